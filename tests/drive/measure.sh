#!/usr/bin/env bash
# measure.sh RTFLASH: measures a loop device of its own by `host protocol`, fits it, bounds a job on it, and compares
# the error of the predicted percentiles with the noise between rounds. With a trace, it also measures the bandwidth that
# mq-deadline leaves a class below a real-time writer, and compares it with a run on the fitted drive. The exit status is
# 2 if nothing can be measured here (it prints why).
set -euo pipefail
rtflash=$(realpath "$1")

refuse() {
    echo "$1"
    exit 2
}

[ "$(id -u)" -eq 0 ] || refuse "not root"
for command in fio losetup python3; do
    command -v "$command" >/dev/null || refuse "no $command"
done

dir=$(mktemp -d)
loop='' traced='' instance="rtflash-$$" reader=''
leave() {
    cd /
    [ -z "$reader" ] || kill "$reader" 2>/dev/null || true
    if [ -n "$traced" ]; then
        rmdir "$dir/tracing/instances/$instance" 2>/dev/null || true
        umount "$dir/tracing" || true
    fi
    [ -z "$loop" ] || losetup --detach "$loop" || true
    rm -rf "$dir"
}
trap leave EXIT
cd "$dir"
truncate --size 256M disk
loop=$(losetup --find --show --direct-io=on disk 2>/dev/null) || loop=''
[ -n "$loop" ] || refuse "no loop device can be made"
number=$(cat "/sys/block/${loop##*/}/dev")
mkdir tracing
if mount -t tracefs nodev tracing 2>/dev/null && mkdir "tracing/instances/$instance" 2>/dev/null; then
    traced=yes
fi

"$rtflash" host protocol --filename "$loop" --size 256MiB --guess 50us >measure.fio 2>/dev/null
if [ -n "$traced" ]; then
    own=tracing/instances/$instance
    major=${number%:*} minor=${number#*:}
    echo mono >"$own/trace_clock"
    echo 16384 >"$own/buffer_size_kb"
    for event in block_rq_issue block_rq_complete block_split; do
        echo "dev == $(((major << 20) + minor))" >"$own/events/block/$event/filter"
        echo 1 >"$own/events/block/$event/enable"
    done
    cat "$own/trace_pipe" >trace.txt &
    reader=$!
fi
fio --output-format=json+ --output=measured.json measure.fio
if [ -n "$traced" ]; then
    sleep 2
    echo 0 >"$own/tracing_on"
    kill "$reader" && wait "$reader" 2>/dev/null || true
    reader=''
    "$rtflash" host fit --trace trace.txt --of "$number" --attach tags --out drive.json --report report.html
else
    echo "no tracefs: fitted to fio's logs"
    "$rtflash" host fit --fio measured.json r*_lat.*.log --out drive.json --report report.html
fi
cat >scenario.json <<END
{ "device": "drive.json", "scheduler": "k2", "duration": "1s", "jobs": [
  { "name": "log", "op": "write", "size": "4KiB", "class": "rt", "think": "2ms" },
  { "name": "rest", "op": "read", "size": "512KiB", "depth": 4 } ] }
END
"$rtflash" host run scenario.json
# A drift of the machine leaves no bound: that is a status of 3.
"$rtflash" host bound scenario.json || [ $? -eq 3 ]
python3 - <<'END'
import json

worst = 0.0
for of in json.load(open("drive.json"))["device"]["fitted"]["held_out"]:
    if of["floor"] is None or of["of_ten_thousand"] == 10_000:
        continue
    worst = max(worst, of["factor"] / of["floor"])
    print(f"{of['op']} {of['of_ten_thousand'] / 100:g} %: {of['factor']:.2f} off, noise {of['floor']:.2f}")
assert worst <= 1.5, f"{worst:.2f} times the noise between rounds"
END
[ -n "$traced" ] || exit 0

# The background of mq-deadline: reads of class be beside a writer of class rt.
cat >held.fio <<END
[global]
filename=$loop
size=256m
direct=1
ioengine=libaio
norandommap
time_based
runtime=5
[log]
rw=randwrite
bs=4k
thinktime=2000
prioclass=1
[copy]
rw=read
bs=512k
iodepth=4
prioclass=2
END
cat >held.json <<END
{ "device": "drive.json", "scheduler": "mq-deadline", "duration": "5s", "jobs": [
  { "name": "log", "op": "write", "pattern": "random", "span": "256MiB", "size": "4KiB", "class": "rt", "think": "2ms" },
  { "name": "copy", "op": "read", "size": "512KiB", "span": "256MiB", "class": "be", "depth": 4 } ] }
END
echo mq-deadline >"/sys/block/${loop##*/}/queue/scheduler"
for run in 1 2 3 4 5; do
    fio --output-format=json --output="held-$run.json" held.fio
    "$rtflash" host run held.json --seed "$run" --format json >"run-$run.json"
done
python3 - <<'END'
import json
from statistics import median

runs = range(1, 6)
measured = median(json.load(open(f"held-{run}.json"))["jobs"][1]["read"]["bw_bytes"] for run in runs)
predicted = median(json.load(open(f"run-{run}.json"))["jobs"][1]["bytes_per_s"] for run in runs)
factor = max(measured / predicted, predicted / measured)
print(f"background of mq-deadline: {measured / 1e6:.0f} MB/s measured, {predicted / 1e6:.0f} predicted: {factor:.2f} off")
assert factor <= 1.5, f"{factor:.2f} times off"
END
