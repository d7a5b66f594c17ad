#!/usr/bin/env bash
# build.sh DIR: the guest kernel (DIR/linux: Debian's linux-source-6.12 as User-Mode Linux with time travel, with the
# drivers beside this file) and its first process (DIR/rootfs/init). About 4 minutes of one core and 2 GB.
# Exit status 2: a package cannot be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1"

# The archive of the security suite has the package: apt knows it once its lists are up to date.
packages=(bc bison flex gcc make xz-utils libc6-dev)
{
    apt-get update && apt-get install -y --no-install-recommends "${packages[@]}"
    ls linux-source-6.12_*.deb || apt-get download linux-source-6.12
} >apt.log 2>&1 || exit 2

if ! [ -d linux-source-6.12 ]; then
    dpkg-deb --fsys-tarfile linux-source-6.12_*.deb | tar -xO ./usr/src/linux-source-6.12.tar.xz | tar -xJ
    cd linux-source-6.12
    # User-Mode Linux has no choice of HZ.
    sed -i '/^config HZ$/,/default 100/ s/default 100/default 1000/' arch/um/Kconfig
    echo 'obj-y += serial.o' >>block/Makefile
    echo 'obj-y += card.o' >>drivers/mmc/host/Makefile
    cd ..
fi
cp "$here/serial.c" linux-source-6.12/block/
cp "$here/card.c" linux-source-6.12/drivers/mmc/host/
cd linux-source-6.12
# Sources that docs/host/linux.csv names.
while IFS=': ' read -r path name; do
    grep -qw "$name" "$path" || { echo "$path has no $name (tests/linux/cited.txt)" >&2; exit 1; }
done <"$here/cited.txt"
make ARCH=um tinyconfig >/dev/null
scripts/kconfig/merge_config.sh -m .config "$here/guest.config" >/dev/null
make ARCH=um olddefconfig >/dev/null
make ARCH=um -j"$(nproc)" linux >../build.log 2>&1
cd ..
cp linux-source-6.12/linux .
mkdir -p rootfs/{dev,proc,sys,tmp,host}
gcc -O1 -static -pthread -Wall -Wextra -o rootfs/init "$here/init.c"
