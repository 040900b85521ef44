rm -f ready
(for ((i = 0; i < 20000; i++)); do :; done; echo yes >ready) &
sleep 0.3
until [ -f ready ]; do sleep 0.3; done
cat ready
for ((i = 0; i < 60000; i++)); do :; done
