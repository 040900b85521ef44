package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	reader := bufio.NewReaderSize(file, 1<<16)
	var sum uint64
	record := make([]byte, 16)
	for {
		if _, err := io.ReadFull(reader, record); err != nil {
			break
		}
		for round := uint64(0); round < 100; round++ {
			sum = sum*31 + binary.LittleEndian.Uint64(record) + round
		}
	}
	fmt.Println(sum)
}
