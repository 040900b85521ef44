// The sum of 8-byte records in a file; binary.Read on a file is one read() a record.
package main

import (
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
	var record, sum uint64
	for binary.Read(file, binary.LittleEndian, &record) == nil {
		sum = (sum ^ record) * 0x9E3779B97F4A7C15
	}
	fmt.Printf("%016x\n", sum)
}
