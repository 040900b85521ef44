#!/bin/sh
# Runs go-ethereum's evm on a file of hex digits and prints the execution time in one unit. evm itself
# chooses between ns, µs, ms and s.
# usage: geth.sh EVM FILE [OPTION...]
evm=$1 file=$2
shift 2
"$evm" run --statdump "$@" --codefile "$file" 2>&1 | awk '
    /^execution time:/ {
        number = $3 + 0
        unit = $3
        sub(/^[0-9.]+/, "", unit)
        if (unit == "ns") number /= 1000
        else if (unit == "ms") number *= 1000
        else if (unit == "s") number *= 1000000
        printf "execution time: %.3f us\n", number
        found = 1
    }
    /^EVM gas used:/ { printf "gas used: %s\n", $4 }
    END { exit !found }'
