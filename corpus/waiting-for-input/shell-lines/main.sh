# Count the lines of standard input that hold an x.
found=0
while read -r line; do
    case $line in
    *x*) found=$((found + 1)) ;;
    esac
done
echo "$found"
