// Adds the numbers of standard input, and pauses 5 ms after each 1000 of them.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	var input io.Reader = bufio.NewReader(os.Stdin)
	if os.Getenv("FIRST") != "" {
		input = os.Stdin
	}
	pauses := os.Getenv("SECOND") != ""
	sum, number := uint64(0), uint64(0)
	for at := 1; ; at++ {
		if _, err := fmt.Fscan(input, &number); err != nil {
			break
		}
		for round := 0; round < 500; round++ {
			sum = (sum ^ number ^ sum>>29) * 0x9E3779B97F4A7C15
		}
		if pauses && at%1000 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	fmt.Println(sum)
}
