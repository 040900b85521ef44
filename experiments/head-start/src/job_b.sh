#!/usr/bin/env bash
# Reads lines to the end, and says how long that took from its own start.
start=$EPOCHREALTIME
lines=0
while read -r _; do
    lines=$((lines + 1))
done
end=$EPOCHREALTIME
# EPOCHREALTIME has six digits after the point: without it, microseconds.
echo "$lines lines, took $((${end/[.,]/} - ${start/[.,]/})) us"
