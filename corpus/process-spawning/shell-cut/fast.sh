# The largest value of key=value lines; the shell takes each line apart.
largest=0
lines=0
while read -r line; do
    lines=$((lines + 1))
    [ "$lines" -le 400 ] || continue
    value=${line#*=}
    [ "$value" -gt "$largest" ] && largest=$value
done
echo "$largest"
