// Copies every stride-th byte of 32 MiB in Go. The speed counts all bytes that are passed, not only those copied.
//
// Usage: strided-copy written|unwritten
package main

import (
	"fmt"
	"os"
	"testing"

	"gomeasure"
)

const size = 32 << 20

func copyStrided(target, source []byte, stride int) {
	for i := 0; i < len(source); i += stride {
		target[i] = source[i]
	}
}

func main() {
	if len(os.Args) != 2 || os.Args[1] != "written" && os.Args[1] != "unwritten" {
		gomeasure.Fail("usage: strided-copy written|unwritten")
	}
	source, target := make([]byte, size), make([]byte, size)
	if os.Args[1] == "written" {
		for i := range source {
			source[i] = byte(i*7 + i/251)
		}
	}
	copyStrided(target, source, 1)
	gomeasure.Check(string(target) == string(source), "the copy")
	for _, stride := range []int{15, 31, 63, 127, 255, 511, 1023, 2047, 4095} {
		result := gomeasure.Run(func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				copyStrided(target, source, stride)
			}
		})
		fmt.Printf("stride_%d_max %.5g GB/s\n", stride, size/result.MinNs)
		fmt.Printf("stride_%d_median %.5g GB/s\n", stride, size/result.MedianNs)
	}
}
