count=0
ok=0
[ -d /usr/share -a -r /etc/passwd -a -x /usr/bin -a -s /etc/hosts -a -r /usr/share/doc -a -x /usr/bin/env ] && ok=1
for ((i = 0; i < 40000; i++)); do
    if ((ok)); then
        count=$((count + 1))
    fi
done
for ((i = 0; i < 60000; i++)); do :; done
echo $count
