for half in 1 2; do
    awk 'BEGIN { for (n = 1; n <= 12; n++) for (i = 0; i < 600000; i++) s += i % n; print s > "/dev/null" }' &
done
wait
echo done
