// Copies every stride-th byte of an array in Go. The speed counts all bytes of the array, not only the copied ones.
//
// The strides take turns. Prints the best of all turns within a second, at least five.
//
// Usage: strided-copy written|unwritten SIZE_IN_MIB
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"gomeasure"
)

const (
	leastTurns = 5
	budget     = time.Second
)

func copyStrided(target, source []byte, stride int) {
	for i := 0; i < len(source); i += stride {
		target[i] = source[i]
	}
}

func main() {
	mib := 0
	if len(os.Args) == 3 {
		mib, _ = strconv.Atoi(os.Args[2])
	}
	if mib <= 0 || os.Args[1] != "written" && os.Args[1] != "unwritten" {
		gomeasure.Fail("usage: strided-copy written|unwritten SIZE_IN_MIB")
	}
	size := mib << 20
	source, target := make([]byte, size), make([]byte, size)
	if os.Args[1] == "written" {
		for i := range source {
			source[i] = byte(i*7 + i/251)
		}
	}
	copyStrided(target, source, 1)
	gomeasure.Check(string(target) == string(source), "the copy")
	strides := []int{15, 31, 63, 127, 255, 511, 1023, 2047, 4095}
	best := make([]time.Duration, len(strides))
	end := time.Now().Add(budget)
	for turn := 0; turn < leastTurns || time.Now().Before(end); turn++ {
		for i, stride := range strides {
			start := time.Now()
			copyStrided(target, source, stride)
			if took := time.Since(start); turn == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	for i, stride := range strides {
		fmt.Printf("stride_%d_max %.5g GB/s\n", stride, float64(size)/float64(best[i].Nanoseconds()))
	}
}
