// Copies every stride-th byte of an array in Go. The speed counts all bytes that are passed, not only those copied.
//
// Usage: strided-copy written|unwritten SIZE_IN_MIB
package main

import (
	"fmt"
	"os"
	"strconv"

	"gomeasure"
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
	for _, stride := range []int{15, 31, 63, 127, 255, 511, 1023, 2047, 4095} {
		result := gomeasure.Run(func(n int) {
			for i := 0; i < n; i++ {
				copyStrided(target, source, stride)
			}
		})
		fmt.Printf("stride_%d_max %.5g GB/s\n", stride, float64(size)/result.MinNs)
		fmt.Printf("stride_%d_median %.5g GB/s\n", stride, float64(size)/result.MedianNs)
	}
}
