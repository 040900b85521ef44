find "$1" -type f -exec wc -c {} \; | awk '{ s += $1 } END { print s }'
