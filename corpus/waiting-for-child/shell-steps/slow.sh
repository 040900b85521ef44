# Three reports on one file, each by a child that is awaited.
awk '{ for (i = 1; i <= NF; i++) words[$i]++ } END { for (w in words) n++; print n }' "$1"
awk '{ for (i = 1; i <= NF; i++) total += length($i) } END { print total }' "$1"
awk '{ for (i = NF; i >= 1; i--) if ($i ~ /^[aeiou]/) n++ } END { print n }' "$1"
exit 0
