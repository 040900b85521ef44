# Ask 1500 times for a tool that is not there, along a PATH of 300 folders.
PATH=$(printf '%s:' "$1"/*)$PATH
i=0
total=0
while [ "$i" -lt 1500 ]; do
    i=$((i + 1))
    command -v no-such-tool || total=$((total + i))
done
i=0
while [ "$i" -lt 8000 ]; do
    i=$((i + 1))
    total=$((total + i % 7))
done
echo "$total"
