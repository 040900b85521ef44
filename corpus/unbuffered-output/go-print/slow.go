// Random numbers on one line; os.Stdout has no buffer.
package main

import (
	"fmt"
	"os"
)

func main() {
	state := uint32(1)
	for i := 0; i < 600000; i++ {
		state = state*1664525 + 1013904223
		fmt.Fprintf(os.Stdout, "%d ", state>>20)
	}
	fmt.Fprintln(os.Stdout)
}
