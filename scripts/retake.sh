#!/usr/bin/env bash
# Measures the figures in the READMEs of the catalogue again, one experiment after another, with all
# packages. This takes some hours on a quiet machine:
#   scripts/retake.sh                 all folders; keeps the prose and rewrites the figures
#   scripts/retake.sh --resume        continues an interrupted run
#   scripts/retake.sh --only evm ...  only these folders
#   scripts/retake.sh --minutes 25    within this time, with the installed packages
#   scripts/retake.sh --quick         the small set of each experiment
# FATHOM is the program (default: target/release/fathom, which is built first). The records are in each
# folder's .fathom; all claims are on one page, target/retaken.html, and as JSON in target/retaken.json.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=
folders=()
options=()
while [ $# -gt 0 ]; do
    case $1 in
    --resume | --quick) options+=("$1") ;;
    --minutes)
        [ $# -ge 2 ] || { echo "retake.sh: --minutes needs a number" >&2; exit 2; }
        minutes=$2
        shift
        ;;
    --only)
        while [ $# -ge 2 ] && [ "${2#--}" = "$2" ]; do
            folders+=("experiments/${2#experiments/}")
            shift
        done
        [ ${#folders[@]} -gt 0 ] || { echo "retake.sh: --only needs names of folders" >&2; exit 2; }
        ;;
    *)
        sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//' >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#folders[@]} -gt 0 ] || folders=(--all)

fathom=${FATHOM:-target/release/fathom}
if [ -z "${FATHOM:-}" ]; then
    cargo build --release --locked --quiet -p fathom
fi
# A later --resume must not use results of an earlier run.
case " ${options[*]-} " in
*" --resume "*) ;;
*)
    if [ "${folders[0]}" = --all ]; then
        rm -f experiments/*/.fathom/experiment/state.json
    else
        for folder in "${folders[@]}"; do
            rm -f "$folder/.fathom/experiment/state.json"
        done
    fi
    ;;
esac
mkdir -p target
# Verdicts decide nothing here: 0 done, 1 a budget exceeded, 3 a subject failed, 4 not trustworthy.
status=0
if [ -n "$minutes" ]; then options+=(--within "${minutes}min"); else options+=(--install); fi
"$fathom" run "${folders[@]}" "${options[@]}" --readme \
    --html target/retaken.html --json target/retaken.json || status=$?
case $status in
0 | 1 | 3 | 4) ;;
*) exit "$status" ;;
esac
python3 experiments/index.py
git diff --stat -- experiments || true
