// A goroutine computes; main asks its channel until there is a result.
package main

import "fmt"

func compute(part uint64) uint64 {
	value := part | 1
	for round := 0; round < 40_000_000; round++ {
		value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15
	}
	return value
}

func main() {
	results := make(chan uint64)
	go func() {
		for part := uint64(0); part < 4; part++ {
			results <- compute(part)
		}
	}()
	sum := uint64(0)
	for got := 0; got < 4; {
		select {
		case result := <-results:
			sum += result
			got++
		default:
		}
	}
	fmt.Printf("%016x\n", sum)
}
