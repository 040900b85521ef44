# Work in 4 steps, without a pause.
total=0
for step in 1 2 3 4; do
    i=0
    while [ "$i" -lt 6000 ]; do
        i=$((i + 1))
        total=$((total + i * step))
    done
done
echo "$total"
