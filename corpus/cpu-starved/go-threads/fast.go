// The scheduler is told of the CPUs there are.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

const (
	threadsPerCPU = 1
	chunks        = 480
)

func work(value uint64) uint64 {
	for round := 0; round < 1000000; round++ {
		value = (value ^ value>>29) * 0x9E3779B97F4A7C15
	}
	return value
}

func main() {
	workers := threadsPerCPU * runtime.NumCPU()
	runtime.GOMAXPROCS(workers)
	sums := make([]uint64, workers)
	var all sync.WaitGroup
	for first := 0; first < workers; first++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for chunk := first; chunk < chunks; chunk += workers {
				sums[first] += work(uint64(chunk))
			}
		}()
	}
	all.Wait()
	total := uint64(0)
	for _, sum := range sums {
		total += sum
	}
	fmt.Printf("%016x\n", total)
}
