// Package gomeasure runs Go's own benchmarks from ordinary programs and prints one plain line for each number.
package gomeasure

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"testing"
)

// Repetitions is how often each benchmark is run. The published figures are single runs of testing.Benchmark.
const Repetitions = 3

// BenchTime is how long testing.Benchmark runs one repetition. Go's default is one second.
const BenchTime = "10ms"

// Result is what a benchmark's repetitions took, and what one operation allocated.
type Result struct {
	MinNs, MedianNs float64
	Bytes, Allocs   int64
}

// Run measures body with testing.Benchmark, Repetitions times.
func Run(body func(b *testing.B)) Result {
	testing.Init()
	if err := flag.Set("test.benchtime", BenchTime); err != nil {
		Fail(err.Error())
	}
	times := make([]float64, Repetitions)
	var last testing.BenchmarkResult
	for i := range times {
		last = testing.Benchmark(body)
		if last.N == 0 {
			Fail("the benchmark did not run")
		}
		times[i] = float64(last.T.Nanoseconds()) / float64(last.N)
	}
	sort.Float64s(times)
	return Result{times[0], times[len(times)/2], last.AllocedBytesPerOp(), last.AllocsPerOp()}
}

// Print writes the times of one operation in nanoseconds.
func (r Result) Print(name string) {
	fmt.Printf("%s_min %.5g ns\n%s_median %.5g ns\n", name, r.MinNs, name, r.MedianNs)
}

// PrintAllocations writes what one operation allocated.
func (r Result) PrintAllocations(name string) {
	fmt.Printf("%s_bytes %d B\n%s_allocs %d allocations\n", name, r.Bytes, name, r.Allocs)
}

// Check ends the program when a result that a benchmark computed is wrong.
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
