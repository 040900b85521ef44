find "$1" -type f -exec cat {} + | wc -c
