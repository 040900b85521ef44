#!/bin/sh
# Runs escript from where it lies. An unpacked package isn't under /usr/lib/erlang, where Debian's `erl` looks, so that
# the emulator is started directly and gets the folders of its parts.
root=$(dirname "$(dirname "$(realpath "$(command -v escript)")")")
ROOTDIR=$root BINDIR=$(echo "$root"/erts-*/bin) EMU=beam PROGNAME=erl
ESCRIPT_EMULATOR=$BINDIR/erlexec
export ROOTDIR BINDIR EMU PROGNAME ESCRIPT_EMULATOR
exec "$root/bin/escript" "$@"
