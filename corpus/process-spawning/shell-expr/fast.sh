# Add up 1 to 700 with the shell's arithmetic, many times over.
round=0
while [ "$round" -lt 50 ]; do
    round=$((round + 1))
    i=0
    total=0
    while [ "$i" -lt 700 ]; do
        i=$((i + 1))
        total=$((total + i))
    done
done
echo "$total"
