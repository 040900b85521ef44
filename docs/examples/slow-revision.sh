#!/bin/sh
# Makes the small repository of docs/versions.md: a program in awk that became slower in one of 15
# revisions, on a branch that was merged. One other revision does not build.
#
#     sh docs/examples/slow-revision.sh DIR
#     cd DIR && fathom bisect v1.0 HEAD --build make -- awk -f out/report.awk '{repo}/words.txt'
set -eu
test $# -eq 1 || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir "$1"
cd "$1"
git init -q -b main
git config user.name Ada
git config user.email ada@example.org
number=0
commit() {
    number=$((number + 1))
    date="2026-01-$(printf %02d "$number")T12:00:00Z"
    git add -A
    GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date git commit -q -m "$1"
}
echo words.txt > .gitignore
printf 'out/report.awk: report.awk\n\tawk -f report.awk /dev/null > /dev/null\n\tmkdir -p out\n\tcp report.awk out/\n' > Makefile
printf '{ words += NF }\nEND { print words, "words" }\n' > report.awk
commit 'Count words'
git tag v1.0
for what in lines characters numbers capitals; do
    echo "# $what" >> report.awk
    case $what in
        lines) echo 'END { print NR, "lines" }' ;;
        characters) printf '{ bytes += length($0) }\nEND { print bytes, "characters" }\n' ;;
        numbers) printf '/[0-9]/ { numbers++ }\nEND { print numbers + 0, "lines with numbers" }\n' ;;
        capitals) printf '/^[A-Z]/ { capitals++ }\nEND { print capitals + 0, "lines with a capital" }\n' ;;
    esac >> report.awk
    commit "Count $what"
done
git tag v1.1
git checkout -q -b summary
echo '# the whole text' >> report.awk
commit 'Say what the summary is for'
# Copies the whole text for each of its lines.
printf '{ text = text $0 "\\n" }\nEND { print length(text), "bytes kept" }\n' >> report.awk
commit 'Keep the text for the summary'
echo 'END { print substr(text, 1, 40) }' >> report.awk
commit 'Print how it begins'
git checkout -q main
for what in one two three; do
    echo "$what" >> NOTES
    commit "Note $what"
done
number=$((number + 1))
date="2026-01-${number}T12:00:00Z"
GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date git merge -q --no-edit summary
echo 'END {' >> report.awk
commit 'Begin a table'
echo 'print "done" }' >> report.awk
commit 'Finish the table'
git tag v1.2
echo four >> NOTES
commit 'Note four'
awk 'BEGIN { for (n = 0; n < 2000; n++) print n, "The quick brown fox jumps over the lazy dog", n * n }' > words.txt
