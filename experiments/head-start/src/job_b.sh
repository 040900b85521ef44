#!/usr/bin/env bash
# Reads lines to the end, and prints how long that took since its own start.
start=$EPOCHREALTIME
lines=0
while read -r _; do
    lines=$((lines + 1))
done
end=$EPOCHREALTIME
# EPOCHREALTIME has six digits after the point; without the point, it is in microseconds.
echo "$lines lines, took $((${end/[.,]/} - ${start/[.,]/})) us"
