#!/usr/bin/env bash
# Statements weakened by one. Each file of weakened/ says what it weakens (a sed command for a file
# of the theory), which file then no longer compiles, and has a counterexample. In a copy of this
# folder that file must fail, and the counterexample must compile: beside the weakened definitions,
# or, where these do not compile by themselves, beside the theory as it is.
# With names as arguments, only these.
set -uo pipefail
cd "$(dirname "$0")"
order=(Sums Qpa Demand Victims Sporadic Bus Superblock Trace Check Reserve Costs Server Edf Closing Examples
    Neighbours Device Frontier Theorem3 Registers CheckRegisters Stretches Cached Ranks Channel)
ulimit -v 4000000
wrong=0

compile() { timeout 300 coqc -q -Q . Rtflash "$1" >output 2>&1; }

# weakened NAME: prints a line, and says by its status whether all is as it should be.
weakened() {
    local name=$1 file fails beside=weakened touched=() from=0 k
    local case=weakened/$name.v
    cp ./*.v ./*.vo "$dir/" && cp "$case" "$dir/case.v" && cd "$dir" || return 1
    fails=$(sed -n 's/^(\* fails \(.*\)\.v \*)$/\1/p' case.v)
    grep -q '^(\* beside the theory as it is' case.v && beside=theory
    if [ "$beside" = theory ] && ! compile case.v; then
        echo "$name: the counterexample does not compile"
        sed 's/^/  /' output
        return 1
    fi
    while IFS= read -r line; do
        file=${line%% *}
        cp "$file" before
        sed -i -e "${line#* }" "$file"
        if cmp -s before "$file"; then
            echo "$name: $file has no such statement"
            return 1
        fi
        touched+=("${file%.v}")
    done < <(sed -n 's/^(\* weaken \(.*\) \*)$/\1/p' case.v)
    # From the first weakened file on all is compiled again, up to the one that fails.
    for k in "${!order[@]}"; do
        [ "$from" = 0 ] && [[ " ${touched[*]} " != *" ${order[k]} "* ]] && continue
        from=1
        if [ "${order[k]}" = "$fails" ]; then
            if [ "$beside" = weakened ] && ! compile case.v; then
                echo "$name: the counterexample does not compile"
                sed 's/^/  /' output
                return 1
            fi
            if compile "$fails.v"; then
                echo "$name: $fails.v still compiles"
                return 1
            fi
            echo "$name: $fails.v fails, $(grep -c -E '^Example broken' case.v) counterexample"
            return 0
        fi
        if ! compile "${order[k]}.v"; then
            echo "$name: ${order[k]}.v fails before $fails.v"
            sed 's/^/  /' output
            return 1
        fi
    done
    echo "$name: $fails.v was not reached"
    return 1
}

names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(cd weakened && ls ./*.v | sed 's/^\.\///; s/\.v$//')
for name in "${names[@]}"; do
    dir=$(mktemp -d)
    (weakened "$name") || wrong=$((wrong + 1))
    rm -r "$dir"
done
echo "${#names[@]} weakened statements, $wrong not as they should be"
[ "$wrong" = 0 ]
