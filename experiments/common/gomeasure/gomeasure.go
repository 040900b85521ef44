// Package gomeasure times operations of Go programs and prints one plain line per number.
//
// Unlike testing.Benchmark, which averages over a second, it measures many short windows and prints the shortest and the
// median one: on a busy machine, most windows of a second include time of other programs.
package gomeasure

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"testing"
	"time"
)

// Budget is how long an operation is measured, after a warm-up. On a shared processor, other guests slow it down for
// a tenth of a second at a time, so half a second nearly always contains an undisturbed window.
const Budget = 500 * time.Millisecond

// Window is the minimum length of a window. The cost of the clock, about 50 ns, is negligible in it.
const Window = 20 * time.Microsecond

// leastWindows is the number of windows to measure even if they exceed the budget.
const leastWindows = 3

// Result is how long one operation takes, in nanoseconds.
type Result struct {
	MinNs, MedianNs float64
}

// Run measures work, which makes n operations per call.
func Run(work func(n int)) Result {
	n, took := 1, time.Duration(0)
	for {
		took = timed(work, n)
		if took >= Window {
			break
		}
		n *= 2
	}
	var times []float64
	for end := time.Now().Add(Budget); len(times) < leastWindows || time.Now().Before(end); {
		times = append(times, float64(timed(work, n).Nanoseconds())/float64(n))
	}
	sort.Float64s(times)
	return Result{times[0], times[len(times)/2]}
}

func timed(work func(n int), n int) time.Duration {
	start := time.Now()
	work(n)
	return time.Since(start)
}

// Print writes the times of one operation.
func (r Result) Print(name string) {
	fmt.Printf("%s_min %.5g ns\n%s_median %.5g ns\n", name, r.MinNs, name, r.MedianNs)
}

// PrintAllocations writes the allocations of one operation, as counted by Go's own benchmarks, over 200 operations. The
// count includes the runtime's own allocations, so the lowest of five benchmarks is used.
func PrintAllocations(name string, work func(n int)) {
	testing.Init()
	if err := flag.Set("test.benchtime", "200x"); err != nil {
		Fail(err.Error())
	}
	var bytes, allocations int64
	for i := 0; i < 5; i++ {
		result := testing.Benchmark(func(b *testing.B) { work(b.N) })
		if result.N == 0 {
			Fail("the benchmark did not run")
		}
		if i == 0 || result.AllocedBytesPerOp() < bytes {
			bytes, allocations = result.AllocedBytesPerOp(), result.AllocsPerOp()
		}
	}
	fmt.Printf("%s_bytes %d B\n%s_allocs %d allocations\n", name, bytes, name, allocations)
}

// Check ends the program if a benchmark computed a wrong result.
func Check(right bool, what string) {
	if !right {
		Fail("wrong result: " + what)
	}
}

// Fail ends the program with an error.
func Fail(what string) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(1)
}
