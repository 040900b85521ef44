// Keep one byte for each of 90000 small records.
package main

import "fmt"

func work(value uint64) uint64 {
	for round := 0; round < 500; round++ {
		value = (value ^ value>>29) * 0x9E3779B97F4A7C15
	}
	return value
}

func main() {
	const records, size = 90000, 1
	table := make([]byte, records*size)
	value := uint64(1)
	for i := 0; i < records; i++ {
		value = work(value)
		table[i*size] = byte(value)
	}
	total := 0
	for i := 0; i < records; i++ {
		total += int(table[i*size])
	}
	fmt.Println(total)
}
