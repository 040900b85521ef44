# The folders of 120 paths; rests 0.05 s after each 20th.
for ((i = 0; i < 120; i++)); do
    path=/usr/share/data/set$i/file$((i * 7)).txt
    if [ -n "$FIRST" ]; then folder=$(dirname "$path"); else folder=${path%/*}; fi
    for ((k = 0; k < 200; k++)); do total=$((total * 31 % 65537 + k)); done
    echo "$folder $total"
    if [ -n "$SECOND" ] && ((i % 20 == 0)); then sleep 0.05; fi
done
