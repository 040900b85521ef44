echo "3 5 7" >settings
total=0
read -r a b c <settings
for ((i = 0; i < 20000; i++)); do
    total=$((total + a * i + b - c))
done
for ((i = 0; i < 100000; i++)); do :; done
echo $total
