package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	defer out.Flush()
	state := uint64(1)
	for i := 0; i < 120000; i++ {
		for k := 0; k < 1500; k++ {
			state = state*6364136223846793005 + 1442695040888963407
		}
		fmt.Fprintf(out, "%d %x some more text of the report\n", i, state)
	}
}
