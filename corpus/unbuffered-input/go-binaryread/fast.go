// The sum of 8-byte records in a file; binary.Read takes them from a buffer.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer file.Close()
	source := bufio.NewReader(file)
	var record, sum uint64
	for binary.Read(source, binary.LittleEndian, &record) == nil {
		sum = (sum ^ record) * 0x9E3779B97F4A7C15
	}
	fmt.Printf("%016x\n", sum)
}
