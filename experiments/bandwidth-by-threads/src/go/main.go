// Reads one byte of every 64 from a large slice in one goroutine and prints the speed over the whole slice.
//
// Usage: bandwidth SIZE_IN_MIB
package main

import (
	"fmt"
	"os"
	"strconv"

	"gomeasure"
)

const line = 64

var sink int

func sumLines(bytes []byte) int {
	sum := 0
	for i := 0; i < len(bytes); i += line {
		sum += int(bytes[i])
	}
	return sum
}

func main() {
	mib := 0
	if len(os.Args) == 2 {
		mib, _ = strconv.Atoi(os.Args[1])
	}
	if mib <= 0 {
		gomeasure.Fail("usage: bandwidth SIZE_IN_MIB")
	}
	bytes := make([]byte, mib<<20)
	expected := 0
	for i := range bytes {
		bytes[i] = byte(i >> 6)
		if i%line == 0 {
			expected += int(bytes[i])
		}
	}
	gomeasure.Check(sumLines(bytes) == expected, "the sum")
	result := gomeasure.Run(func(n int) {
		for i := 0; i < n; i++ {
			sink = sumLines(bytes)
		}
	})
	fmt.Printf("read_max %.5g GB/s\n", float64(len(bytes))/result.MinNs)
	fmt.Printf("read_median %.5g GB/s\n", float64(len(bytes))/result.MedianNs)
}
