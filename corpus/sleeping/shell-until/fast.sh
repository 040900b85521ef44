rm -f ready
(for ((i = 0; i < 20000; i++)); do :; done; echo yes >ready) &
wait
cat ready
for ((i = 0; i < 60000; i++)); do :; done
