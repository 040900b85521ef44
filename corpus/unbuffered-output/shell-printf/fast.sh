x=1
out=
for ((i = 0; i < 60000; i++)); do
    x=$(((x * 75 + 74) % 65537))
    out+="$x "
done
printf '%s' "$out"
