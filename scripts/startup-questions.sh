#!/bin/sh
# The measurements behind the three questions in docs/startup.md. As root, on a quiet machine:
#   scripts/startup-questions.sh [FATHOM]
# Needs cc, readelf, go. Nothing is left behind but what FATHOM prints.
set -eu
fathom=${1:-fathom}
here=$(cd "$(dirname "$0")/.." && pwd)
source=$here/experiments/startup-showdown/src
# Not in /tmp, which may be memory: what lies there can't be cold.
mkdir -p "$here/target"
work=$(mktemp -d "$here/target/startup-questions.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

cc -O2 -s -o "$work/c" "$source/hello.c"
cc -O2 -s -static -o "$work/c-static" "$source/hello.c"
cc -static -nostdlib -o "$work/c-bare" "$source/hello_bare.c"
"$source/private-libc.sh" "$source/hello.c" "$work/private"
(cd "$source" && go build -o "$work/go" hello.go && go build -o "$work/go-syscall" hello_syscall.go)
cd "$work"

echo "== How much of C's speed is that libc is in memory already?"
"$fathom" startup --cold -r 40 ./c ./private/hello ./c-static ./c-bare

echo "== Why does Go take longer than C?"
"$fathom" startup -r 100 ./c ./go ./go-syscall
echo "== ... and does the number of cores matter?"
"$fathom" startup -r 100 --traced 0 --env A=1 --env GOMAXPROCS=1 --env GOMAXPROCS=2 ./go ./go ./go
"$fathom" startup -r 100 --traced 0 --pin 0 ./go

echo "== What does tracing cost?  cargo run --release -p fathom-benches -- startup"
