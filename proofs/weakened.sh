#!/usr/bin/env bash
# Statements weakened by one. Each file of weakened/ says what it weakens (a sed command for a file
# of the theory), which file then no longer compiles, and in the proof of which lemma; and it has a
# counterexample. In a copy of this folder that proof must fail, and the counterexample must
# compile: beside the weakened definitions, or, where these do not compile by themselves, beside the
# theory as it is. Only a proof that fails counts: no time-out, no lack of memory, no missing file,
# no syntax error, no unknown name.
# With names as arguments, only these. COQ_SECONDS bounds the processor time of each coqc.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
order=(Sums Qpa Demand Victims Sporadic Bus Superblock Trace Check Reserve Costs Server Edf Closing Examples
    Neighbours Device Frontier Theorem3 Registers CheckRegisters Stretches Cached Ranks Channel)
ulimit -v 4000000
wrong=0

compile() {
    (ulimit -t "${COQ_SECONDS:-300}" && exec coqc -q -Q . Rtflash "$1") >output 2>&1
    status=$?
    return $status
}

# proof_fails FILE LEMMA: whether what coqc said last, of FILE, is that this proof fails. Prints why
# not, if so.
proof_fails() {
    local line in
    # coqc ends with 1 where it reports an error; 137 or 152 is a time-out, 129 an anomaly of its own.
    [ "$status" = 1 ] || { echo "coqc ended with status $status"; return 1; }
    line=$(sed -n "s/^File \"\.\/$1\", line \([0-9]*\), characters .*/\1/p" output | tail -n 1)
    [ -n "$line" ] && grep -q '^Error:' output || { echo "there is no error in $1"; return 1; }
    if grep -qiE 'syntax error|lexer|was not found in|cannot find a physical|unable to locate|library file|anomaly|timeout|stack overflow|out of memory' output; then
        echo "it is not a proof that fails"
        return 1
    fi
    # In whose proof that line is.
    in=$(head -n "$line" "$1" | awk '
        over { name = "no proof"; proof = over = 0 }
        match($0, /^ *(Theorem|Lemma|Corollary|Example|Fact|Remark|Proposition) +/) {
            name = substr($0, RLENGTH + 1)
            sub(/[^A-Za-z0-9_\47].*/, "", name)
        }
        /Proof\./ { proof = 1 }
        /(Qed|Defined)\./ { over = 1 }
        END { print proof ? name : "no proof" }')
    [ "$in" = "$2" ] || { echo "it fails in $in, not in $2"; return 1; }
}

# weakened NAME: prints a line, and says by its status whether all is as it should be.
weakened() {
    local name=$1 file fails lemma why beside=weakened touched=() from=0 k status=0
    local case=weakened/$name.v
    cp ./*.v ./*.vo "$dir/" && cp "$case" "$dir/case.v" && cd "$dir" || return 1
    read -r fails lemma < <(sed -n 's/^(\* fails \(.*\)\.v \(.*\) \*)$/\1 \2/p' case.v)
    if [ -z "${lemma:-}" ] || ! grep -qE '^Example broken' case.v; then
        echo "$name: it does not say which proof fails, or has no counterexample"
        return 1
    fi
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
            if ! why=$(proof_fails "$fails.v" "$lemma"); then
                echo "$name: $fails.v does not fail as it should: $why"
                sed 's/^/  /' output
                return 1
            fi
            echo "$name: $lemma ($fails.v) fails, $(grep -c -E '^Example broken' case.v) counterexample"
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
