# The letters on standard input. From a pipe, `read` takes one byte a call.
total=0
while IFS= read -r line; do
    total=$((total + ${#line}))
done
echo "$total"
