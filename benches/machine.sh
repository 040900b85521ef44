#!/bin/sh
# Repeats the machine probes and prints how much each figure moves from run to run.
#
#   benches/machine.sh [RUNS] [--quick|--full]
#
# Default: 10 runs of the quick profile. A run in which a probe was disturbed or had no answer
# has no figure there; the column `runs` says how many had one.
set -eu

runs=${1:-10}
profile=${2:---quick}
here=$(cd "$(dirname "$0")/.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT INT TERM

cd "$here"
cargo build --quiet --release -p fathom-machine --example machine
example=$(cargo metadata --format-version 1 --no-deps |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/examples/machine

i=0
while [ "$i" -lt "$runs" ]; do
    i=$((i + 1))
    read -r load _ < /proc/loadavg || load=?
    echo "run $i of $runs, load $load" >&2
    "$example" "$profile" --json > "$out/$i.json" 2> /dev/null
done

# One line a figure: the JSON is printed one key a line, in a fixed order.
cat "$out"/*.json | awk -v runs="$runs" '
    function text(line) { sub(/^[^:]*: "?/, "", line); sub(/"?,?$/, "", line); return line }
    /^    "id":/ { id = text($0); if (!(id in seen)) { seen[id] = 1; order[++count] = id } }
    /^    "unit":/ { unit[id] = text($0) }
    /^    "value":/ {
        value = text($0)
        if (value != "null") {
            n[id]++
            if (n[id] == 1 || value + 0 < low[id]) low[id] = value + 0
            if (n[id] == 1 || value + 0 > high[id]) high[id] = value + 0
        }
    }
    END {
        printf "%-26s %14s %14s %-9s %8s  %s\n", "figure", "lowest", "highest", "unit", "spread", "runs"
        for (i = 1; i <= count; i++) {
            id = order[i]
            if (n[id] == 0) { printf "%-26s %14s %14s %-9s %8s  0/%d\n", id, "-", "-", unit[id], "-", runs; continue }
            spread = low[id] > 0 ? sprintf("%.1f %%", (high[id] / low[id] - 1) * 100) : "-"
            printf "%-26s %14.6g %14.6g %-9s %8s  %d/%d\n", id, low[id], high[id], unit[id], spread, n[id], runs
        }
    }'
