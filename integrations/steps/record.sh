# Sourced by the steps that post a comment: RECORD is what the job of a pull request left, and the author of that
# request may have written any other thing in its place. Afterwards `comment` is its text, in a folder of our own.
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
