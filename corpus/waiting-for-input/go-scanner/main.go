// Count the words of standard input.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	counts := map[string]int{}
	words := bufio.NewScanner(os.Stdin)
	words.Split(bufio.ScanWords)
	for words.Scan() {
		counts[words.Text()]++
	}
	fmt.Println(len(counts))
}
