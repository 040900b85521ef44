#!/bin/sh
# A C hello with a private loader and C library: copies that no other program maps, so that they can be
# out of memory when it starts. With `link`, the same paths are links to those that all other programs map.
# Usage: private-libc.sh SOURCE FOLDER [link]
set -eu
source=$1
folder=$2
take=cp
[ "${3:-}" = link ] && take='ln -sf'
mkdir -p "$folder"
plain=$folder/plain
cc -O2 -o "$plain" "$source"
loader=$(readelf -l "$plain" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
libc=$(ldd "$plain" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
$take "$(realpath "$loader")" "$folder/loader"
$take "$(realpath "$libc")" "$folder/libc.so.6"
cc -O2 -o "$folder/hello" "$source" -Wl,--dynamic-linker="$folder/loader" -Wl,--disable-new-dtags -Wl,-rpath="$folder"
"$folder/hello" > /dev/null
