#!/usr/bin/env bash
# How much slower does each tier make a program, beside strace and perf trace in the same run?
#
# Prints a Markdown table. Every cell is the least of $ROUNDS runs, tools interleaved: the time the
# subject itself took inside the traced tree (set-up of the tool excluded), wall and CPU, and the
# ratio to the untraced run of the same round set. CPU time holds what the tool makes the subject's
# own thread do; wall time also what it is made to wait for.
#
# Usage: tracing_overhead.sh [path of the built example `trace`]
#   ROUNDS=3  runs of each cell      QUICK=1  leave out find, and the large subjects of slow tools
set -eu

trace=${1:-${CARGO_TARGET_DIR:-target}/release/examples/trace}
rounds=${ROUNDS:-3}
quick=${QUICK:-}
[ -x "$trace" ] || { echo "no $trace: cargo build -p fathom-trace --example trace --release" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
head -c 50000000 /dev/urandom > "$work/50MB"
python=$(python3 -c 'import sys; print(sys.executable)')

names=("5 M one-byte calls (dd)" "100 k one-byte calls (dd)" "gzip -1 of 50 MB" "python3 start"
       "sh, 100 children" "find /usr")
subjects=(
  "dd if=/dev/zero of=/dev/null bs=1 count=2500000 2>/dev/null"
  "dd if=/dev/zero of=/dev/null bs=1 count=50000 2>/dev/null"
  "gzip -1 -c $work/50MB >/dev/null"
  "$python -c 'import json, argparse, subprocess'"
  "sh -c 'i=0; while [ \$i -lt 100 ]; do /bin/true; i=\$((i+1)); done'"
  "find /usr -name nothing-has-this-name"
)
tools=(none kernel sample stops strace perf)
# The tools that stop the target take minutes on five million calls.
slow="stops strace perf"

inside() { # $1: subject; prints wall and CPU seconds to the file $OUT
  cat <<EOF
a=\$EPOCHREALTIME; $1; b=\$EPOCHREALTIME
{ echo "\$a \$b"; times; } > "\$OUT"
EOF
}

run() { # $1: tool, $2: script; prints "wall cpu" in seconds, nothing if the tool failed
  export OUT=$work/out
  rm -f "$OUT"
  local command=(bash "$2")
  case $1 in
    none) "${command[@]}" ;;
    strace) strace -c -f -o "$work/strace" "${command[@]}" ;;
    perf) perf trace -s -o "$work/perf" "${command[@]}" ;;
    *) "$trace" --quiet --tier "$1" -- "${command[@]}" ;;
  esac </dev/null >/dev/null 2>&1 || return 0
  [ -s "$OUT" ] || return 0
  awk 'function s(t,  p) { split(t, p, "m"); sub("s", "", p[2]); return p[1] * 60 + p[2] }
       NR == 1 { wall = $2 - $1 } NR == 3 { printf "%.4f %.4f\n", wall, s($1) + s($2) }' "$OUT"
}

echo "Measured $(date +%F) on Linux $(uname -r), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg);" \
     "$(strace -V 2>/dev/null | head -n 1), $(perf --version 2>/dev/null)."
echo
echo "| subject | $(printf '%s | ' "${tools[@]}")"
echo "|---|$(printf -- '---|%.0s' "${tools[@]}")"
for i in "${!subjects[@]}"; do
  [ -n "$quick" ] && [ "$i" = 5 ] && continue
  inside "${subjects[$i]}" > "$work/subject.sh"
  : > "$work/times"
  for _ in $(seq "$rounds"); do
    for tool in "${tools[@]}"; do
      [ "$i" = 0 ] && [[ " $slow " == *" $tool "* ]] && continue
      got=$(run "$tool" "$work/subject.sh")
      [ -n "$got" ] && echo "$tool $got" >> "$work/times"
    done
  done
  awk -v tools="${tools[*]}" -v name="${names[$i]}" '
    !($1 in wall) || $2 < wall[$1] { wall[$1] = $2 }
    !($1 in cpu) || $3 < cpu[$1] { cpu[$1] = $3 }
    END {
      n = split(tools, t, " "); printf "| %s |", name
      for (k = 1; k <= n; k++) {
        x = t[k]
        if (!(x in wall)) { printf " - |"; continue }
        if (x == "none") { printf " %.0f ms (%.0f ms CPU) |", wall[x] * 1000, cpu[x] * 1000; continue }
        printf " %.2fx (CPU %.2fx) |", wall[x] / wall["none"], cpu[x] / (cpu["none"] ? cpu["none"] : 0.001)
      }
      print ""
    }' "$work/times"
  if [ "$i" = 0 ]; then
    awk '!($1 in cpu) || $3 < cpu[$1] { cpu[$1] = $3 }
      END { printf "| added per call, CPU | | %.0f ns | %.0f ns | | | |\n",
            (cpu["kernel"] - cpu["none"]) / 0.005, (cpu["sample"] - cpu["none"]) / 0.005 }' "$work/times"
  fi
done
