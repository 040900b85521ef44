// Sixteen goroutines on all processors.
package main

import (
	"fmt"
	"sync"
)

func work(value uint64) uint64 {
	for round := 0; round < 25000000; round++ {
		value = (value ^ value>>29) * 0x9E3779B97F4A7C15
	}
	return value
}

func main() {
	results := make([]uint64, 16)
	var all sync.WaitGroup
	for i := range results {
		all.Add(1)
		go func() {
			defer all.Done()
			results[i] = work(uint64(i + 1))
		}()
	}
	all.Wait()
	for _, result := range results {
		fmt.Printf("%016x\n", result)
	}
}
