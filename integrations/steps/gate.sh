#!/usr/bin/env bash
# Runs the gate for a forge (github or gitlab). BASE is the branch or revision to compare with, TIME the longest
# time of measuring, ARGUMENTS more options, one per line. Writes fathom-gate.json and exits with the code of the
# gate. It adds the measurements to .fathom/store.sqlite, which the forge caches for the next run.
set -euo pipefail
PATH="$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin" # where install.sh installs
fathom=${FATHOM:-fathom}
export FATHOM_STORE="${FATHOM_STORE:-$PWD/.fathom/store.sqlite}"
forge=${1:?github or gitlab}

arguments=()
while IFS= read -r line; do
    if [ -n "$line" ]; then arguments+=("$line"); fi
done <<<"${ARGUMENTS:-}"
if [ "$forge" = gitlab ]; then
    arguments+=(--gitlab gl-code-quality-report.json --junit fathom-junit.xml)
fi

# A shallow clone may not contain the merge base.
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
    git fetch --quiet --unshallow origin
fi
if ! git rev-parse --verify --quiet "origin/$BASE^{commit}" >/dev/null; then
    git fetch --quiet origin "$BASE:refs/remotes/origin/$BASE" || true
fi

code=0
"$fathom" gate --base "$BASE" --time "${TIME:-5m}" --save --json fathom-gate.json --markdown fathom-gate.md \
    ${arguments[@]+"${arguments[@]}"} || code=$?

if [ -f fathom-gate.json ]; then
    if [ "$forge" = github ]; then
        "$fathom" gate render fathom-gate.json --github -
        if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat fathom-gate.md >>"$GITHUB_STEP_SUMMARY"; fi
    fi
    # One of three verdicts; any other text is ignored.
    verdict=$(sed -n 's/^  "verdict": "\(worse\|not worse\|cannot tell\)",$/\1/p' fathom-gate.json)
    verdict=${verdict%%$'\n'*}
    if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "verdict=$verdict" >>"$GITHUB_OUTPUT"; fi
fi
exit "$code"
