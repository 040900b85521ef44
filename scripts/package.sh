#!/usr/bin/env bash
# Packages Fathom: builds the program once, packs it in each form, installs each package from its file into a clean
# place, runs the first command of README.md there, and prints the time from the installation to the verdict.
#
#   scripts/package.sh [wheel|npm|deb|rpm|tar]...       all of them if none is named
#
# The packages are in target/package; SHA256SUMS lists all of them. The program is built for glibc 2.17 (with zig, from
# PyPI), so it runs on every distribution since 2014. TARGET=aarch64-unknown-linux-gnu builds for that processor, after
# `rustup target add`, and tries nothing; scripts/aarch64.sh does. FATHOM=target/release/fathom packs an existing program.
# A form that needs a program that this machine lacks is skipped with a message. The exit code is 1 if a form was skipped,
# couldn't be tried, or took more than 10 s from the installation to the verdict.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
sources=$PWD
target=${TARGET:-x86_64-unknown-linux-gnu}
out=$PWD/target/package
mkdir -p "$out"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
name=fathom-lab
description="A performance laboratory for whole programs whose numbers are true, and which says why"
case $target in
x86_64-*) debian=amd64 node=x64 processor=x86_64 ;;
aarch64-*) debian=arm64 node=arm64 processor=aarch64 ;;
*)
    echo "there are no packages for $target" >&2
    exit 2
    ;;
esac
own=$([ "$(uname -m)" = "$processor" ] && echo yes || true)

# Says why a form doesn't pass. The others are still made.
short=()
falls_short() {
    echo "$form: $1"
    short+=("$form")
}

# Succeeds if a program is available. As root on Debian and Ubuntu, installs a missing one.
have() {
    command -v "$1" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        { apt-get update -qq || true; apt-get install -y -qq --no-install-recommends "$2"; } >/dev/null 2>&1 && return
    fi
    falls_short "skipped, needs $1 (package $2)"
    return 1
}

# Runs the first command of README.md in a folder that has its file, with the program installed since $began.
verdict() {
    local folder=$1 said
    shift
    said=$("$@" bench --cwd "$folder" 'gzip -1 -k -c Cargo.lock' 'gzip -9 -k -c Cargo.lock' 2>&1) || {
        echo "$said" >&2
        return 1
    }
    local took=$(($(date +%s%N) / 1000000 - began))
    grep -E '2 is .* than 1' <<<"$said"
    echo "$form: $took ms from the installation to the verdict"
    [ "$took" -le 10000 ] || falls_short "more than 10 s"
}

now() { began=$(($(date +%s%N) / 1000000)); }

# Builds the program and the wheel that contains it.
build() {
    local tools=$out/tools
    if [ -n "${FATHOM:-}" ]; then
        program=$FATHOM
        return
    fi
    if [ ! -x "$tools/bin/maturin" ]; then
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin[zig]>=1.9,<2'
    fi
    PATH=$tools/bin:$PATH "$tools/bin/maturin" build --quiet --zig --target "$target" \
        --compatibility manylinux2014 --out "$out"
    program=$PWD/target/$target/dist/fathom
    echo "program: $(stat -c %s "$program") bytes, $(readelf -WV "$program" | grep -o 'GLIBC_[0-9.]*' |
        sort -Vu | tail -1 | tr _ ' ') or newer"
}

# Collects the files that a package installs under /usr.
stage() {
    local share=$stage/usr/share
    rm -rf "$stage"
    install -D -m 755 "$program" "$stage/usr/bin/fathom"
    install -D -m 644 -t "$share/doc/$name" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE
    local run=()
    if [ -z "$own" ]; then
        # Without this emulator and libc, the packages have no manual pages and no completions.
        local libraries=/usr/$processor-linux-gnu
        [ -e "$libraries/lib/libc.so.6" ] && command -v "qemu-$processor" >/dev/null || return 0
        run=("qemu-$processor" -L "$libraries")
    fi
    "${run[@]}" "$program" man "$share/man/man1"
    gzip -9n "$share"/man/man1/*
    mkdir -p "$share"/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
    "${run[@]}" "$program" completions bash >"$share/bash-completion/completions/fathom"
    "${run[@]}" "$program" completions zsh >"$share/zsh/vendor-completions/_fathom"
    "${run[@]}" "$program" completions fish >"$share/fish/vendor_completions.d/fathom.fish"
}

pack_wheel() {
    if [ -n "${FATHOM:-}" ]; then
        falls_short "skipped, it can't contain a program that was built separately"
        return
    fi
    # maturin chooses the order of the two platforms in the name.
    local file
    file=$(ls "$out/fathom_lab-$version-py3-none-"*"_$processor.whl")
    [ "$own" ] || return 0
    rm -rf "$out/venv"
    python3 -m venv "$out/venv"
    now
    "$out/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$file"
    verdict "$sources" "$out/venv/bin/fathom"
    # The module in the same wheel must find the program.
    (cd / && env -u FATHOM PATH=/usr/bin:/bin "$out/venv/bin/python" -c \
        'import fathom_lab; print("wheel:", fathom_lab.bench("true", runs=3).answer)')
    rm -rf "$out/venv"
}

pack_tar() {
    local folder=$name-$version-$target file=$out/$name-$version-$target.tar.gz
    rm -rf "${out:?}/$folder"
    install -D -m 755 "$program" "$out/$folder/fathom"
    cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$out/$folder"
    if [ -d "$stage/usr/share/man" ]; then cp -r "$stage/usr/share/man" "$out/$folder"; fi
    tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -cf - "$folder" |
        gzip -9n >"$file"
    rm -r "${out:?}/$folder"
    [ "$own" ] || return 0
    mkdir "$out/unpacked"
    now
    tar -C "$out/unpacked" -xzf "$file"
    verdict "$sources" "$out/unpacked/$folder/fathom"
    rm -r "$out/unpacked"
}

# One package that starts the program, and one per processor that contains it; npm installs the matching one.
pack_npm() {
    have npm npm || return 0
    local files=()
    rm -rf "$out/npm"
    mkdir -p "$out/npm/$name/bin" "$out/npm/platform/bin"
    cp scripts/package/fathom.js "$out/npm/$name/bin/fathom.js"
    cp README.md LICENSE-MIT LICENSE-APACHE "$out/npm/$name"
    cp LICENSE-MIT LICENSE-APACHE "$out/npm/platform"
    cp "$program" "$out/npm/platform/bin/fathom"
    sed "s/VERSION/$version/g" scripts/package/package.json >"$out/npm/$name/package.json"
    sed "s/VERSION/$version/g; s/PROCESSOR/$node/g" scripts/package/platform.json >"$out/npm/platform/package.json"
    for folder in platform "$name"; do
        files+=("$out/$(cd "$out/npm/$folder" && npm pack --silent --pack-destination "$out")")
    done
    [ "$own" ] || return 0
    local install=(npm install --silent --offline --no-audit --no-fund)
    # npm must refuse it on a system with musl, which it recognizes by the text of ldd. (Its `--libc musl` checks only
    # optional dependencies.)
    cat >"$out/npm/musl.js" <<'END'
const fs = require('node:fs');
const read = fs.readFileSync;
fs.readFileSync = (path, ...more) => (path === '/usr/bin/ldd' ? 'musl libc' : read(path, ...more));
END
    if NODE_OPTIONS="--require=$out/npm/musl.js" "${install[@]}" --prefix "$out/npm/musl" "${files[@]}"; then
        falls_short "can be installed on a system with musl"
    fi
    now
    "${install[@]}" --prefix "$out/npm/prefix" "${files[@]}"
    verdict "$sources" "$out/npm/prefix/node_modules/.bin/fathom"
    rm -r "$out/npm"
}

# Makes a minimal Debian to install a package in.
root() {
    root=$out/root
    [ "$(id -u)" = 0 ] || {
        falls_short "not tried, an installation needs root"
        return 1
    }
    have debootstrap debootstrap || return 1
    if [ ! -e "$root/complete" ]; then
        rm -rf "$root"
        debootstrap --variant=minbase bookworm "$root" >/dev/null
        touch "$root/complete"
    fi
    install -D -m 644 -t "$root/sources" Cargo.lock
}

# Runs a program in that Debian, with the kernel's folders.
within() {
    # shellcheck disable=SC2016
    unshare --mount --pid --fork sh -c 'root=$1; shift
        mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && exec chroot "$root" "$@"' sh "$root" "$@"
}

pack_deb() {
    have dpkg-deb dpkg || return 0
    local file=$out/${name}_${version}_$debian.deb
    mkdir -p "$stage/DEBIAN"
    cat >"$stage/DEBIAN/control" <<END
Package: $name
Version: $version
Architecture: $debian
Maintainer: the developers of Fathom <$name@localhost>
Depends: libc6 (>= 2.17)
Section: devel
Priority: optional
Installed-Size: $(du -sk "$stage/usr" | cut -f1)
Description: times programs, compares them and explains why they are slow
 $description.
END
    SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group -Zxz --build "$stage" "$file" >/dev/null
    rm -r "$stage/DEBIAN"
    [ "$own" ] && root || return 0
    cp "$file" "$root/package.deb"
    now
    within dpkg -i /package.deb >/dev/null
    verdict /sources within /usr/bin/fathom
    within dpkg --purge "$name" >/dev/null
}

pack_rpm() {
    have rpmbuild rpm || return 0
    local file=$out/$name-$version-1.$processor.rpm
    SOURCE_DATE_EPOCH=$epoch rpmbuild -bb --quiet --target "$processor" --define "_topdir $out/rpmbuild" \
        --define "_rpmdir $out" --define '_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm' \
        --define "__os_install_post %{nil}" --define "version_ $version" --define "stage $stage" \
        --define "summary_ $description" scripts/package/fathom-lab.spec
    rm -r "$out/rpmbuild"
    [ "$own" ] && root || return 0
    now
    rpm --root "$root" --nodeps -i "$file"
    verdict /sources within /usr/bin/fathom
    rpm --root "$root" --nodeps -e "$name"
}

forms=("$@")
if [ $# = 0 ]; then
    forms=(tar deb npm rpm)
    [ -n "${FATHOM:-}" ] || forms+=(wheel)
fi
for form in "${forms[@]}"; do
    case $form in
    wheel | npm | deb | rpm | tar) ;;
    *)
        echo "usage: scripts/package.sh [wheel|npm|deb|rpm|tar]..." >&2
        exit 2
        ;;
    esac
done
# The same commit produces the same files.
epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
stage=$out/stage
build
stage
for form in "${forms[@]}"; do
    "pack_$form"
done
rm -r "$stage"
cd "$out"
find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0r sha256sum >SHA256SUMS
cat SHA256SUMS
[ ${#short[@]} = 0 ] || {
    echo "did not pass: ${short[*]}" >&2
    exit 1
}
