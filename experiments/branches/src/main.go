// Copies the odd numbers of a list, with a branch and without one.
//
// Usage: branches copy|branch|branchless random|odd|even COUNT
package main

import (
	"math/rand"
	"os"
	"strconv"

	"gomeasure"
)

var sink int

func copyAll(target, source []uint64) int {
	for i, value := range source {
		target[i] = value
	}
	return len(source)
}

func copyOdd(target, source []uint64) int {
	count := 0
	for _, value := range source {
		if value&1 == 1 {
			target[count] = value
			count++
		}
	}
	return count
}

// copyOddBranchless stores every number, but advances only past odd numbers.
func copyOddBranchless(target, source []uint64) int {
	count := 0
	for _, value := range source {
		target[count] = value
		count += int(value & 1)
	}
	return count
}

// numbers generates the input from a fixed seed.
func numbers(kind string, count int) []uint64 {
	random := rand.New(rand.NewSource(1))
	values := make([]uint64, count)
	for i := range values {
		switch kind {
		case "random":
			values[i] = random.Uint64()
		case "odd":
			values[i] = random.Uint64() | 1
		case "even":
			values[i] = random.Uint64() &^ 1
		default:
			gomeasure.Fail("numbers are random, odd or even, not " + kind)
		}
	}
	return values
}

func main() {
	if len(os.Args) != 4 {
		gomeasure.Fail("usage: branches copy|branch|branchless random|odd|even COUNT")
	}
	count, err := strconv.Atoi(os.Args[3])
	if err != nil || count <= 0 {
		gomeasure.Fail("COUNT is a number of elements")
	}
	work := map[string]func(target, source []uint64) int{
		"copy": copyAll, "branch": copyOdd, "branchless": copyOddBranchless,
	}[os.Args[1]]
	if work == nil {
		gomeasure.Fail("there is copy, branch and branchless, not " + os.Args[1])
	}
	source := numbers(os.Args[2], count)
	target, other := make([]uint64, count), make([]uint64, count)
	odd := copyOdd(target, source)
	gomeasure.Check(odd == copyOddBranchless(other, source), "both ways find as many odd numbers")
	for i := 0; i < odd; i++ {
		gomeasure.Check(target[i] == other[i] && target[i]&1 == 1, "both ways copy the same odd numbers")
	}
	result := gomeasure.Run(func(n int) {
		for i := 0; i < n; i++ {
			sink = work(target, source)
		}
	})
	result.MinNs /= float64(count)
	result.MedianNs /= float64(count)
	result.Print("element")
}
