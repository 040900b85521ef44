# The largest value of key=value lines; cut(1) takes each line apart.
largest=0
lines=0
while read -r line; do
    lines=$((lines + 1))
    [ "$lines" -le 400 ] || continue
    value=$(echo "$line" | cut -d= -f2)
    [ "$value" -gt "$largest" ] && largest=$value
done
echo "$largest"
