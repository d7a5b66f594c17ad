#!/bin/bash
# An experiment in parts on Slurm, and a merge that waits for them:
#
#   contrib/slurm/submit.sh PARTS DIR schedulability --sets 10000 --analyses thesis,sound
#
# DIR is on a file system that all nodes share. The results are in DIR/results, byte for byte those
# of a straight run. RTFLASH names the command where it is not on the path of the nodes; SBATCH_*
# variables (SBATCH_PARTITION, SBATCH_TIMELIMIT, …) go to both jobs. Prints the two jobs' numbers.
set -euo pipefail

if [ $# -lt 3 ] || ! [ "$1" -ge 1 ] 2>/dev/null; then
    echo "usage: submit.sh PARTS DIR EXPERIMENT [OPTIONS of rtflash experiment]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
parts=$1
mkdir -p "$2/logs"
out=$(cd "$2" && pwd)
shift 2

export RTFLASH_OUT=$out
array=$(sbatch --parsable --array="0-$((parts - 1))" --output="$out/logs/part-%a.log" "$here/part.sbatch" "$@")
merge=$(sbatch --parsable --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
    --output="$out/logs/merge.log" "$here/merge.sbatch")
echo "${array%%;*} ${merge%%;*}"
