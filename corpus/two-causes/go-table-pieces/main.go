// Keeps a 4 KiB page for each of 90000 small records, and writes three numbers for each.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func main() {
	const records = 90000
	size := 1
	if os.Getenv("FIRST") != "" {
		size = 4096
	}
	var out io.Writer = os.Stdout
	if os.Getenv("SECOND") == "" {
		buffered := bufio.NewWriter(os.Stdout)
		defer buffered.Flush()
		out = buffered
	}
	table := make([]byte, records*size)
	value := uint64(1)
	for i := 0; i < records; i++ {
		for round := 0; round < 500; round++ {
			value = (value ^ value>>29) * 0x9E3779B97F4A7C15
		}
		table[i*size] = byte(value)
		for part := 0; part < 3; part++ {
			fmt.Fprint(out, table[i*size]>>part, " ")
		}
	}
	fmt.Fprintln(out)
}
