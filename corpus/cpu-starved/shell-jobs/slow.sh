for n in {1..24}; do
    awk -v n="$n" 'BEGIN { for (i = 0; i < 600000; i++) s += i % n; print s > "/dev/null" }' &
done
wait
echo done
