for n in {1..400}; do PATH=/opt/none$n/bin:$PATH; done
count=0
for n in {1..150}; do
    hash -r
    command -v sort >/dev/null && command -v awk >/dev/null && count=$((count + 1))
done
echo $count
