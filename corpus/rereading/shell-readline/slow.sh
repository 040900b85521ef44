echo "3 5 7" >settings
total=0
for ((i = 0; i < 20000; i++)); do
    read -r a b c <settings
    total=$((total + a * i + b - c))
done
echo $total
