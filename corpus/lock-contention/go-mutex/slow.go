// Threads, locked to their goroutines, hash numbers inside one lock.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

const jobs = 6000

func work(value uint64) uint64 {
	for round := 0; round < 40000; round++ {
		value = (value ^ value>>29) * 0x9E3779B97F4A7C15
	}
	return value
}

func main() {
	workers := 2 * runtime.NumCPU()
	var lock sync.Mutex
	var all sync.WaitGroup
	total := uint64(0)
	for first := 0; first < workers; first++ {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			for job := first; job < jobs; job += workers {
				lock.Lock()
				total += work(uint64(job + 1))
				lock.Unlock()
			}
		}()
	}
	all.Wait()
	fmt.Printf("%016x\n", total)
}
