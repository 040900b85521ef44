# Three reports on one file in one pass, by one program that takes the shell's place.
exec awk '
{ for (i = 1; i <= NF; i++) { words[$i]++; total += length($i); if ($i ~ /^[aeiou]/) vowels++ } }
END { for (w in words) n++; print n; print total; print vowels }' "$1"
