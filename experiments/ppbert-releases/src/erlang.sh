#!/bin/sh
# Runs escript from its folder. An unpacked package isn't in /usr/lib/erlang, where Debian's `erl` looks, so this starts
# the emulator directly and passes it the folders of its parts.
root=$(dirname "$(dirname "$(realpath "$(command -v escript)")")")
ROOTDIR=$root BINDIR=$(echo "$root"/erts-*/bin) EMU=beam PROGNAME=erl
ESCRIPT_EMULATOR=$BINDIR/erlexec
export ROOTDIR BINDIR EMU PROGNAME ESCRIPT_EMULATOR
exec "$root/bin/escript" "$@"
