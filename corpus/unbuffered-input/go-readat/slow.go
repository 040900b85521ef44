package main

import (
	"encoding/binary"
	"fmt"
	"os"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	var sum uint64
	record := make([]byte, 16)
	for offset := int64(0); ; offset += 16 {
		if _, err := file.ReadAt(record, offset); err != nil {
			break
		}
		for round := uint64(0); round < 100; round++ {
			sum = sum*31 + binary.LittleEndian.Uint64(record) + round
		}
	}
	fmt.Println(sum)
}
