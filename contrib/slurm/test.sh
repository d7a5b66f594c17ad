#!/bin/bash
# Runs submit.sh on a Slurm of one node, made for this and taken away again, requeues one part in
# mid-run, and compares the results with a straight run. Needs root and Debian's packages
# slurmctld, slurmd, slurm-client and munge. RTFLASH names the command.
set -euo pipefail
cd "$(dirname "$0")/../.."

rtflash=$(realpath "${RTFLASH:-target/release/rtflash}")
sets=${SETS:-20000}
dir=$(mktemp -d)
chmod 755 "$dir"
started=()

finish() {
    for process in "${started[@]}"; do
        kill "$process" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT

host=$(hostname -s)
mkdir -p "$dir"/{state,spool,munge}
chmod 700 "$dir/munge"
dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 status=none
chmod 400 "$dir/munge/key"
chmod 755 "$dir/munge"
export SLURM_CONF=$dir/slurm.conf
cat >"$SLURM_CONF" <<CONF
ClusterName=rtflash
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${SLURM_TEST_PORT:-16817}
SlurmdPort=$((${SLURM_TEST_PORT:-16817} + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobRequeue=1
KillWait=2
ReturnToService=2
SlurmdTimeout=300
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF

munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
    --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" 2>/dev/null &
started+=($!)
sleep 1
slurmctld -D -c 2>/dev/null &
started+=($!)
slurmd -D -N "$host" 2>/dev/null &
started+=($!)

# within SECONDS COMMAND...: waits until it succeeds.
within() {
    local left=$(($1 * 5))
    shift
    until "$@"; do
        left=$((left - 1))
        if [ "$left" -le 0 ]; then
            echo "it did not come to: $*" >&2
            tail -n 20 "$dir"/slurmctld.log "$dir"/slurmd.log >&2
            return 1
        fi
        sleep 0.2
    done
}
is_idle() { sinfo -h -o %t 2>/dev/null | grep -q idle; }
has_begun() { [ -f "$dir/out/part-1/tallies.json" ] && [ -f "$dir/out/logs/part-1.log" ]; }
is_over() { [ -z "$(squeue -h 2>/dev/null)" ]; }

within 30 is_idle
options=(schedulability --sets "$sets" --seed 5 --no-figure)
read -r array merge < <(RTFLASH=$rtflash contrib/slurm/submit.sh 3 "$dir/out" "${options[@]}")
echo "array $array, merge $merge"
within 60 has_begun
scontrol requeue "${array}_1"
# A job that is requeued waits for two minutes otherwise.
sleep 3
scontrol update "JobId=${array}_1" StartTime=now 2>/dev/null || true
within 400 is_over

grep -H "going on" "$dir/out/logs/part-1.log" || {
    echo "the part was not requeued in mid-run: more SETS" >&2
    exit 1
}
"$rtflash" experiment "${options[@]}" --out "$dir/straight" >/dev/null
for file in results.csv paired.csv summary.json manifest.json tallies.json; do
    cmp "$dir/straight/$file" "$dir/out/results/$file"
done
echo "the same bytes as a straight run"
