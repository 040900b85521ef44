# Work in 4 steps, with a pause after each.
total=0
for step in 1 2 3 4; do
    i=0
    while [ "$i" -lt 6000 ]; do
        i=$((i + 1))
        total=$((total + i * step))
    done
    sleep 0.25
done
echo "$total"
