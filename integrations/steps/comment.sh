#!/usr/bin/env bash
# Renders RECORD, the fathom-gate.json of a pull request's job, and posts it to the pull request whose head is
# HEAD_REPOSITORY, HEAD_BRANCH at HEAD_SHA. It replaces its own earlier comment, and posts nothing if there is
# nothing to report.
set -euo pipefail
PATH="$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin" # where install.sh installs
mark='<!-- fathom gate -->'
folder=$(dirname "${RECORD:?names fathom-gate.json}")
if [ -L "$folder" ] || [ "$(ls -A -- "$folder")" != "${RECORD##*/}" ]; then
    echo "the artifact is refused: it must contain ${RECORD##*/} and nothing else" >&2
    exit 1
fi
source "$(dirname "${BASH_SOURCE[0]}")/record.sh"

pull=$(gh api "repos/$GITHUB_REPOSITORY/pulls" -X GET -f state=open -f "head=${HEAD_REPOSITORY%%/*}:$HEAD_BRANCH" \
    --jq ".[] | select(.head.sha == \"$HEAD_SHA\") | .number")
pull=${pull%%$'\n'*}
if [ -z "$pull" ]; then
    echo "no open pull request has $HEAD_SHA as its head, so nothing is posted"
    exit 0
fi
old=$(gh api "repos/$GITHUB_REPOSITORY/issues/$pull/comments" --paginate \
    --jq ".[] | select(.user.login == \"github-actions[bot]\" and (.body | startswith(\"$mark\"))) | .id")
old=${old%%$'\n'*}

if [ ! -s "$comment" ]; then
    if [ -n "$old" ]; then gh api -X DELETE "repos/$GITHUB_REPOSITORY/issues/comments/$old"; fi
    exit 0
fi
{ echo "$mark"; cat "$comment"; } >"$work/body.md"
if [ -n "$old" ]; then
    gh api -X PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$old" -F body=@"$work/body.md" >/dev/null
else
    gh api "repos/$GITHUB_REPOSITORY/issues/$pull/comments" -F body=@"$work/body.md" >/dev/null
fi
