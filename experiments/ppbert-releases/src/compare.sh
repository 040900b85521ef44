#!/bin/sh
# Prints the differences between the outputs of two releases.
#
# Usage: compare.sh lines|content OLD NEW [-m4] FILE...
#
# `lines` compares line by line; `content` first removes blanks and line ends, so only the terms count.
# Each differing line of OLD begins with `<`, of NEW with `>`. `-m4` is passed to NEW: four terms per line.
set -eu
mode=$1 old=$2 new=$3
shift 3
option=
case $1 in -m*) option=$1 && shift ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
terms() { tr -d ' \n' | tr ',' '\n'; }
for file; do
    "$old" <"$file" >"$folder/old" 2>"$folder/words"
    "$new" $option <"$file" >"$folder/new" 2>"$folder/words"
    if [ "$mode" = content ]; then
        for side in old new; do
            terms <"$folder/$side" >"$folder/terms"
            mv "$folder/terms" "$folder/$side"
        done
    fi
    diff -a --speed-large-files "$folder/old" "$folder/new" || [ $? = 1 ]
done
echo compared
