// Random numbers on one line, through a bufio.Writer.
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
	for i := 0; i < 600000; i++ {
		state = state*1664525 + 1013904223
		fmt.Fprintf(output, "%d ", state>>20)
	}
	fmt.Fprintln(output)
}
