// Two goroutines, each locked to its thread, hand 30000 numbers over and back, a thousand at a time.
package main

import (
	"fmt"
	"runtime"
)

const (
	numbers = 30000
	batch   = 1000
)

func work(value uint64) uint64 {
	for round := 0; round < 1500; round++ {
		value = (value ^ value>>29) * 0x9E3779B97F4A7C15
	}
	return value
}

func answer(over, back chan []uint64) {
	runtime.LockOSThread()
	for values := range over {
		for i, value := range values {
			values[i] = work(value)
		}
		back <- values
	}
	close(back)
}

func main() {
	runtime.LockOSThread()
	over, back := make(chan []uint64), make(chan []uint64)
	go answer(over, back)
	sum := uint64(0)
	for first := 0; first < numbers; first += batch {
		values := make([]uint64, batch)
		for i := range values {
			values[i] = uint64(first + i + 1)
		}
		over <- values
		for _, value := range <-back {
			sum += value
		}
	}
	close(over)
	<-back
	fmt.Printf("%016x\n", sum)
}
