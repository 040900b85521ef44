#!/usr/bin/env bash
# Renders fathom-gate.json and posts it to the merge request of this pipeline, with FATHOM_TOKEN. A comment
# that is there is replaced; none is written when there is nothing to say.
set -euo pipefail
PATH="$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin" # where install.sh installs
mark='<!-- fathom gate -->'
notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
ask() { curl --fail --silent --show-error --header "PRIVATE-TOKEN: $FATHOM_TOKEN" "$@"; }

"${FATHOM:-fathom}" gate render fathom-gate.json --markdown fathom-comment.md

old=$(ask "$notes?per_page=100" | python3 -c '
import json, sys
own = [note["id"] for note in json.load(sys.stdin) if note["body"].startswith(sys.argv[1])]
print(own[0] if own else "")' "$mark")
if [ ! -s fathom-comment.md ]; then
    if [ -n "$old" ]; then ask -X DELETE "$notes/$old"; fi
    exit 0
fi
{ echo "$mark"; cat fathom-comment.md; } >fathom-body.md
if [ -n "$old" ]; then
    ask -X PUT --data-urlencode body@fathom-body.md "$notes/$old" >/dev/null
else
    ask -X POST --data-urlencode body@fathom-body.md "$notes" >/dev/null
fi
