// A journal of 2000 records; each is brought to the disk before the next.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	file, err := os.Create("journal")
	check(err)
	journal := bufio.NewWriter(file)
	value := uint64(1)
	for record := 0; record < 2000; record++ {
		for round := 0; round < 20000; round++ {
			value = (value ^ value>>29) * 0x9E3779B97F4A7C15
		}
		fmt.Fprintln(journal, value)
		check(journal.Flush())
		check(file.Sync())
	}
	check(journal.Flush())
	check(file.Sync())
	check(file.Close())
	fmt.Println(value)
}
