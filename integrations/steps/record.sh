# Sourced by the steps that post a comment. RECORD is the file of a pull request's job; the author of the pull request
# may have replaced it with anything. Afterwards `comment` is the path of the rendered text, in a new folder.
record=${RECORD:?names fathom-gate.json}
refuse() {
    echo "$record is refused: $1" >&2
    exit 1
}
if [ -L "$record" ] || [ ! -f "$record" ]; then refuse "not a regular file"; fi
if [ "$(stat -c %s -- "$record")" -gt 8388608 ]; then refuse "larger than 8 MiB"; fi
work=$(mktemp -d)
comment=$work/comment.md
"${FATHOM:-fathom}" gate render "$record" --markdown "$comment"
