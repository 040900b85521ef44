// A log of lines, through a bufio.Writer.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	state := uint32(1)
	for i := 0; i < 400000; i++ {
		state = state*1664525 + 1013904223
		word := "waiting"
		if state&1024 != 0 {
			word = "ready"
		}
		fmt.Fprintf(output, "item %06d has value %010d and state %s\n", i, state, word)
	}
}
