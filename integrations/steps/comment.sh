#!/usr/bin/env bash
# Renders fathom-gate.json, which a pull request's job left, and posts it to the pull request whose head is
# HEAD_REPOSITORY, HEAD_BRANCH at HEAD_SHA. A comment that is there is replaced; none is written when
# there is nothing to say.
set -euo pipefail
PATH="$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin" # where install.sh installs
mark='<!-- fathom gate -->'

"${FATHOM:-fathom}" gate render fathom-gate.json --markdown fathom-comment.md

pull=$(gh api "repos/$GITHUB_REPOSITORY/pulls" -X GET -f state=open -f "head=${HEAD_REPOSITORY%%/*}:$HEAD_BRANCH" \
    --jq ".[] | select(.head.sha == \"$HEAD_SHA\") | .number")
pull=${pull%%$'\n'*}
if [ -z "$pull" ]; then
    echo "no open pull request has $HEAD_SHA as its head: nothing is posted"
    exit 0
fi
old=$(gh api "repos/$GITHUB_REPOSITORY/issues/$pull/comments" --paginate \
    --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$mark\"))) | .id")
old=${old%%$'\n'*}

if [ ! -s fathom-comment.md ]; then
    if [ -n "$old" ]; then gh api -X DELETE "repos/$GITHUB_REPOSITORY/issues/comments/$old"; fi
    exit 0
fi
{ echo "$mark"; cat fathom-comment.md; } >fathom-body.md
if [ -n "$old" ]; then
    gh api -X PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$old" -F body=@fathom-body.md >/dev/null
else
    gh api "repos/$GITHUB_REPOSITORY/issues/$pull/comments" -F body=@fathom-body.md >/dev/null
fi
