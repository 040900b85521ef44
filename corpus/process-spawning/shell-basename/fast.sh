for ((i = 0; i < 150; i++)); do
    path=/usr/share/data/set$i/file$((i * 7)).txt
    name=${path##*/}
    echo "${path%/*} ${name%.txt}"
done >all.txt
out=$(<all.txt)
for ((i = 0; i < 100000; i++)); do total=$((total + i % 7)); done
printf '%s\n' "$out"
