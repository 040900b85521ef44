count=0
for n in {1..150}; do
    hash -r
    command -v sort >/dev/null && command -v awk >/dev/null && count=$((count + 1))
done
for ((n = 0; n < 100000; n++)); do :; done
echo $count
