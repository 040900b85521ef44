for ((i = 0; i < 150; i++)); do
    path=/usr/share/data/set$i/file$((i * 7)).txt
    name=$(basename "$path" .txt)
    folder=$(dirname "$path")
    echo "$folder $name"
done
