// Answer 1500 requests; each gives all free memory back to the system.
package main

import (
	"fmt"
	"runtime/debug"
)

func answer(value uint64) uint64 {
	room := make([]uint64, 8192)
	for round := 0; round < 4; round++ {
		for i := range room {
			value = (value ^ value>>29) * 0x9E3779B97F4A7C15
			room[i] = value
		}
	}
	return room[value%8192]
}

func main() {
	value := uint64(1)
	for i := 0; i < 1500; i++ {
		value = answer(value)
		debug.FreeOSMemory()
	}
	fmt.Printf("%016x\n", value)
}
