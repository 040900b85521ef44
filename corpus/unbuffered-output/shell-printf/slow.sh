x=1
for ((i = 0; i < 60000; i++)); do
    x=$(((x * 75 + 74) % 65537))
    printf '%d' "$x"
    printf ' '
done
