// The sum of the numbers on standard input; Fscan reads them byte by byte.
package main

import (
	"fmt"
	"os"
)

func main() {
	sum := 0
	for {
		var number int
		if _, err := fmt.Fscan(os.Stdin, &number); err != nil {
			break
		}
		sum += number
	}
	fmt.Println(sum)
}
