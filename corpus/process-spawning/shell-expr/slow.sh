# Add up 1 to 700 with expr(1): a process for every sum.
i=0
total=0
while [ "$i" -lt 700 ]; do
    i=$((i + 1))
    total=$(expr "$total" + "$i")
done
echo "$total"
