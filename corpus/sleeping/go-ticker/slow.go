// Work in 40 steps, one a tick.
package main

import (
	"fmt"
	"time"
)

func work(value uint64) uint64 {
	for round := 0; round < 1000000; round++ {
		value = (value ^ value>>29) * 0x9E3779B97F4A7C15
	}
	return value
}

func main() {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	value := uint64(1)
	for step := 0; step < 40; step++ {
		<-ticker.C
		value = work(value)
	}
	fmt.Printf("%016x\n", value)
}
