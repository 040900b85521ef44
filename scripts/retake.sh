#!/usr/bin/env bash
# Retakes the measured figures in the READMEs of the catalogue, one experiment after the other, with all
# packages, which takes some hours. On a quiet machine:
#   scripts/retake.sh                 all folders; prose stays, figures are written anew
#   scripts/retake.sh --resume        go on where it was interrupted
#   scripts/retake.sh --only evm ...  only these folders
#   scripts/retake.sh --minutes 25    in at most that time, with the packages that are there
#   scripts/retake.sh --quick         the small set of each
# FATHOM names the program (default: target/release/fathom, built if need be). The records are in each
# folder's .fathom; all claims in one page in target/retaken.html, and as JSON beside it.
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
# What an earlier run kept must not come back by a later --resume.
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
# Verdicts decide nothing here: 0 done, 1 a budget, 3 a subject failed, 4 not to be trusted.
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
