// Measures Go's allocations: none for a small slice that stays in its function, a run of pages for a large one,
// and the memory that the runtime keeps after everything is garbage.
//
// Usage: go-allocation fact|small|large|heap [touch]
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"gomeasure"
)

var sink int

func factorial(n int) int {
	product := 1
	for i := 2; i <= n; i++ {
		product *= i
	}
	return product
}

// factorialInSmallSlice keeps every partial product in a slice whose size is known at compile time.
func factorialInSmallSlice() int {
	products := make([]int, 11)
	products[0] = 1
	for i := 1; i < len(products); i++ {
		products[i] = products[i-1] * i
	}
	return products[10]
}

// factorialInLargeSlice does the same with 100,001 elements, too many for the stack.
func factorialInLargeSlice() int {
	products := make([]int, 100001)
	products[0] = 1
	for i := 1; i < len(products); i++ {
		products[i] = products[i-1] * i
	}
	return products[10]
}

func bench(name string, work func() int, allocations bool) {
	gomeasure.Check(work() == 3628800, "10! is 3,628,800")
	operations := func(n int) {
		for i := 0; i < n; i++ {
			sink = work()
		}
	}
	gomeasure.Run(operations).Print(name)
	if allocations {
		gomeasure.PrintAllocations(name, operations)
	}
}

// residentKiB returns the resident memory of this process, or 0 if /proc doesn't have it.
func residentKiB() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib
		}
	}
	return 0
}

func printHeap(when string) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	const MiB = 1 << 20
	fmt.Printf("%s_heap_sys %.3f MiB\n", when, float64(stats.HeapSys)/MiB)
	fmt.Printf("%s_heap_live %.3f MiB\n", when, float64(stats.HeapAlloc)/MiB)
	fmt.Printf("%s_resident %.3f MiB\n", when, float64(residentKiB())/1024)
}

var block []byte

// allocate makes a block of 100 B, 1 kB, ... up to 1 GB and back down again; each replaces the previous one.
// With touch, it writes to every page, like a program that uses its memory.
func allocate(touch bool) {
	var sizes []int
	for size := 100; size <= 1_000_000_000; size *= 10 {
		sizes = append(sizes, size)
	}
	for i := len(sizes) - 2; i >= 0; i-- {
		sizes = append(sizes, sizes[i])
	}
	for _, size := range sizes {
		block = make([]byte, size)
		if touch {
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
		}
	}
	block = nil
}

func heap(touch bool) {
	printHeap("start")
	allocate(touch)
	runtime.GC()
	printHeap("end")
	debug.FreeOSMemory()
	printHeap("freed")
}

func main() {
	variant := strings.Join(os.Args[1:], " ")
	switch variant {
	case "fact":
		bench("fact", func() int { return factorial(10) }, false)
	case "small":
		bench("slice", factorialInSmallSlice, true)
	case "large":
		bench("slice", factorialInLargeSlice, true)
	case "heap", "heap untouched":
		heap(false)
	case "heap touched":
		heap(true)
	default:
		gomeasure.Fail("usage: go-allocation fact|small|large|heap [touched|untouched]")
	}
}
