count=0
for ((i = 0; i < 40000; i++)); do
    if [ -d /usr/share ] && [ -r /etc/passwd ] && [ -x /usr/bin ] && [ -s /etc/hosts ]; then
        count=$((count + 1))
    fi
done
echo $count
