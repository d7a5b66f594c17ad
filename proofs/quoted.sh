#!/usr/bin/env bash
# Every theorem that a document quotes is printed by Assumptions.v. A name in backquotes, in
# README.md or in ../docs/analysis.md where that is there, is a theorem if a file states one of that
# name. (The section of README.md about weakened statements is not read: its names are files'.)
# All names of the table of theorems in README.md must be theorems.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")" || exit 1
kinds='Theorem|Lemma|Corollary|Example|Fact|Remark|Proposition'
theorems=$(sed -nE "s/^ *($kinds) +([A-Za-z_][A-Za-z0-9_']*).*/\2/p" ./*.v | sort -u)
printed=$(sed -nE "s/^Print Assumptions ([A-Za-z0-9_']+)\.$/\1/p" Assumptions.v | sort -u)
wrong=0

# Words in backquotes that may be a name of Coq, one a line.
names() { grep -oE "\`[A-Za-z_][A-Za-z0-9_']*\`" | tr -d '`' | sort -u; }

# quoted DOCUMENT, its text being read from standard input.
quoted() {
    local name
    while IFS= read -r name; do
        echo "$1 quotes $name, which Assumptions.v does not print"
        wrong=$((wrong + 1))
    done < <(names | comm -12 - <(echo "$theorems") | comm -23 - <(echo "$printed"))
}

quoted README.md < <(sed '/^## Weakened statements/,$d' README.md)
[ ! -f ../docs/analysis.md ] || quoted docs/analysis.md <../docs/analysis.md

table=$(sed -n '/^## Lemmas and theorems/,/^## Not/p' README.md | grep '^|' | names)
[ -n "$table" ] || { echo "README.md has no table of theorems"; wrong=$((wrong + 1)); }
while IFS= read -r name; do
    echo "README.md has $name in its table, which no file states"
    wrong=$((wrong + 1))
done < <(comm -23 <(echo "$table") <(echo "$theorems"))
[ "$wrong" = 0 ]
