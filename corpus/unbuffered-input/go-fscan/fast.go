// The sum of the numbers on standard input; Fscan reads from a buffer.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	input := bufio.NewReader(os.Stdin)
	sum := 0
	for {
		var number int
		if _, err := fmt.Fscan(input, &number); err != nil {
			break
		}
		sum += number
	}
	fmt.Println(sum)
}
