count=0
for ((i = 0; i < 40000; i++)); do
    if [ -d /usr/share -a -r /etc/passwd -a -x /usr/bin -a -s /etc/hosts -a -r /usr/share/doc -a -x /usr/bin/env ]; then
        count=$((count + 1))
    fi
done
echo $count
