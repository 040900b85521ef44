#!/usr/bin/env bash
# Renders RECORD, the fathom-gate.json of the previous job, and posts it to the merge request of this pipeline, with
# FATHOM_TOKEN. It replaces an earlier comment of this token's user, never a similar one of another user. It posts
# nothing if there is nothing to report.
set -euo pipefail
PATH="$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin" # where install.sh installs
mark='<!-- fathom gate -->'
notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
ask() { curl --fail --silent --show-error --header "PRIVATE-TOKEN: $FATHOM_TOKEN" "$@"; }

source "$(dirname "${BASH_SOURCE[0]}")/record.sh"

user=$(ask "$CI_API_V4_URL/user" | python3 -c 'import json, sys; print(int(json.load(sys.stdin)["id"]))')
old=$(ask "$notes?per_page=100" | python3 -c '
import json, sys
notes = [note for note in json.load(sys.stdin) if note["author"]["id"] == int(sys.argv[2])]
own = [int(note["id"]) for note in notes if note["body"].startswith(sys.argv[1])]
print(own[0] if own else "")' "$mark" "$user")
if [ ! -s "$comment" ]; then
    if [ -n "$old" ]; then ask -X DELETE "$notes/$old"; fi
    exit 0
fi
{ echo "$mark"; cat "$comment"; } >"$work/body.md"
if [ -n "$old" ]; then
    ask -X PUT --data-urlencode "body@$work/body.md" "$notes/$old" >/dev/null
else
    ask -X POST --data-urlencode "body@$work/body.md" "$notes" >/dev/null
fi
