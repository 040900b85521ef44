#!/usr/bin/env bash
# Tests Fathom for AArch64 on a machine with another architecture: cross-compiles the program and the tests of `trace`
# and `launcher`, starts Debian's arm64 kernel in an emulated machine with a small Debian system, and runs
# scripts/aarch64-guest.sh there.
#
#   scripts/aarch64.sh              runs everything; AA=20 sets the number of A/A sessions
#   scripts/aarch64.sh COMMAND      runs one command there with bash; the program is `fathom`
#
# FATHOM=target/aarch64-unknown-linux-gnu/dist/fathom tests an existing program, here the one that scripts/package.sh packs.
# Needs root, for Debian's packages. Downloads and builds are kept in target/aarch64 and target/aarch64-unknown-linux-gnu.
# What it starts ends with it, also if it is killed.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C CARGO_INCREMENTAL=0
target=aarch64-unknown-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
kept=$PWD/target/aarch64
suite=bookworm
packages=linux-image-arm64,busybox-static,gcc,libc6-dev,procps,python3

# Each program and its package. The libraries of the cross compiler are in a separate package.
missing=()
while read -r program package; do
    command -v "$program" >/dev/null || missing+=("$package")
done <<END
qemu-system-aarch64 qemu-system-arm
debootstrap debootstrap
aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
mkfs.ext4 e2fsprogs
modprobe kmod
cpio cpio
END
[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || missing+=(libc6-dev-arm64-cross)
if [ ${#missing[@]} -gt 0 ]; then
    { apt-get update -qq || true; apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >/dev/null || {
        echo "scripts/aarch64.sh needs ${missing[*]}, and they can't be installed" >&2
        exit 1
    }
fi
[ "$(id -u)" = 0 ] || {
    echo "scripts/aarch64.sh needs root, for debootstrap" >&2
    exit 1
}
rustup target list --installed | grep -qx $target || rustup target add $target >/dev/null || {
    echo "scripts/aarch64.sh needs Rust's standard library for $target: rustup target add $target" >&2
    exit 1
}

# If this script is killed with SIGKILL, the next one removes its files.
mkdir -p "$kept"
exec 9>"$kept/lock"
flock -n 9 || { echo "scripts/aarch64.sh is already running" >&2; exit 1; }
folder=$kept/machine
trap 'rm -rf "$folder"' EXIT
rm -rf "$folder"
guest=$folder/guest
mkdir -p "$guest"

# Started by this shell itself, a program gets SIGTERM when the shell ends. The emulator gets SIGKILL, which also ends
# what is stopped.
ends_too=(setpriv --pdeathsig TERM)

began=$SECONDS
[ -n "${FATHOM:-}" ] || "${ends_too[@]}" cargo build --quiet --release --locked --target $target -p fathom
# In the emulator, tests without optimization take several times longer.
CARGO_PROFILE_DEV_OPT_LEVEL=1 "${ends_too[@]}" cargo test --quiet --locked --target $target -p fathom-trace \
    -p fathom-launcher --lib --tests --no-run --message-format=json >"$folder/built"
tests=$(python3 -c '
import json, sys
for message in map(json.loads, sys.stdin):
    if message.get("executable") and message["profile"]["test"]:
        print(message["executable"])' <"$folder/built")
echo "$((SECONDS - began)) s: built for AArch64"

# Debian's packages are only unpacked. Configuring them would take minutes in the emulator.
if [ ! -e "$kept/packages/done" ]; then
    rm -rf "$kept/packages"
    "${ends_too[@]}" debootstrap --download-only --arch=arm64 --variant=minbase --include=$packages \
        $suite "$kept/packages" >"$kept/log" || { tail -5 "$kept/log" >&2; exit 1; }
    touch "$kept/packages/done"
fi
mkdir -p "$guest"/usr/{bin,sbin,lib} "$guest"/{proc,sys,dev,tmp,run,root,fathom/tests}
for name in bin sbin lib; do ln -s "usr/$name" "$guest/$name"; done
for package in "$kept"/packages/var/cache/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -C "$guest" -x --keep-directory-symlink --exclude='./usr/share/doc/*'
done
cp "$guest"/usr/share/base-passwd/passwd.master "$guest/etc/passwd"
cp "$guest"/usr/share/base-passwd/group.master "$guest/etc/group"
ln -s mawk "$guest/usr/bin/awk"
ln -s gcc "$guest/usr/bin/cc"
cp "${FATHOM:-target/$target/release/fathom}" "$guest/usr/bin/fathom"
# shellcheck disable=SC2086 # one path per line
cp $tests "$guest/fathom/tests/"
cp scripts/aarch64-guest.sh Cargo.lock "$guest/fathom/"
printf 'cd /fathom\n%s\n' "${*:-exec ./aarch64-guest.sh ${AA:-20}}" >"$guest/fathom/command"
# The tests of these crates create folders here.
mkdir -p "$guest$PWD"/{crates/trace,crates/launcher,target/$target/tmp}
# The first process: runs the command, prints its exit code, and powers the machine off.
cat >"$guest/fathom/start" <<'END'
#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs run /run
mount -t tracefs trace /sys/kernel/tracing
mkdir /dev/shm && mount -t tmpfs shm /dev/shm
mount -o remount,rw / && busybox ip link set lo up
# Debian's kernels forbid perf events to ordinary users; others don't.
echo 2 >/proc/sys/kernel/perf_event_paranoid
bash /fathom/command </dev/null
echo "exit code: $?"
sync
busybox poweroff -f
END
chmod +x "$guest/fathom/start"

# The initial file system contains the modules that the kernel needs to mount its disk.
kernel=$(basename "$guest"/usr/lib/modules/*)
depmod -b "$guest" "$kernel"
early=$folder/early
mkdir -p "$early"/{dev,root}
cp "$guest/usr/bin/busybox" "$early/busybox"
{
    echo '#!/busybox sh'
    echo '/busybox mount -t devtmpfs dev /dev'
    for module in virtio_pci virtio_blk ext4; do
        modprobe -d "$guest" -S "$kernel" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
        cp "$file" "$early/"
        echo "/busybox insmod /$(basename "$file")"
    done
    echo '/busybox mount -t ext4 /dev/vda /root && /busybox mount --move /dev /root/dev'
    echo 'exec /busybox switch_root /root /fathom/start'
} >"$early/init"
chmod +x "$early/init"
(cd "$early" && find . | cpio --quiet -o -H newc) >"$folder/early.cpio"
mv "$guest/boot/vmlinuz-$kernel" "$folder/vmlinuz"
truncate -s 4G "$folder/disk"
mkfs.ext4 -q -d "$guest" "$folder/disk"
rm -rf "$guest"

# The machine has no network. It is stopped if it hangs.
setpriv --pdeathsig KILL timeout --foreground -k 10 "${LIMIT:-3000}" setpriv --pdeathsig KILL \
    qemu-system-aarch64 -machine virt -cpu neoverse-n1 -accel tcg,thread=multi -smp 2 -m 3G \
    -nic none -display none -monitor none -serial stdio -no-reboot \
    -kernel "$folder/vmlinuz" -initrd "$folder/early.cpio" -append 'quiet panic=-1 console=ttyAMA0' \
    -drive "file=$folder/disk,format=raw,if=virtio,cache=unsafe" </dev/null | sed -u 's|\r$||' | tee "$folder/said" ||
    echo "the emulated machine did not end by itself" >&2
code=$(sed -n 's/^exit code: //p' "$folder/said")
echo "$((SECONDS - began)) s altogether"
exit "${code:-1}"
