// Computes the successive differences of 100 integers, and their prefix sums.
//
// Usage: prefix-sum differences|prefix|prefixinregister
package main

import (
	"os"

	"gomeasure"
)

const length = 100

// differences writes the difference of each element from the previous one. No step needs the result of another.
func differences(target, source []int) {
	for i := 1; i < len(source) && i < len(target); i++ {
		target[i] = source[i] - source[i-1]
	}
}

// prefix writes the sum up to each element. Each step reads the value that the previous step has just stored.
func prefix(target, source []int) {
	for i := 1; i < len(source) && i < len(target); i++ {
		target[i] = target[i-1] + source[i]
	}
}

// prefixInRegister keeps the running sum out of memory, so the chain is one addition per element.
func prefixInRegister(target, source []int) {
	sum := target[0]
	for i := 1; i < len(source) && i < len(target); i++ {
		sum += source[i]
		target[i] = sum
	}
}

// checkAll makes differences of squares and squares of differences again.
func checkAll() {
	squares, steps, sums := make([]int, length), make([]int, length), make([]int, length)
	for i := range squares {
		squares[i] = i * i
	}
	differences(steps, squares)
	gomeasure.Check(steps[length-1] == 2*length-3, "the differences of squares")
	for _, sum := range []func(target, source []int){prefix, prefixInRegister} {
		clear(sums)
		sum(sums, steps)
		for i := range sums {
			gomeasure.Check(sums[i] == squares[i], "prefix sums undo differences")
		}
	}
}

func main() {
	variants := map[string]func(target, source []int){
		"differences": differences, "prefix": prefix, "prefixinregister": prefixInRegister,
	}
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	work := variants[name]
	if work == nil {
		gomeasure.Fail("usage: prefix-sum differences|prefix|prefixinregister")
	}
	checkAll()
	source, target := make([]int, length), make([]int, length)
	for i := range source {
		source[i] = i
	}
	gomeasure.Run(func(n int) {
		for i := 0; i < n; i++ {
			work(target, source)
		}
	}).Print("pass")
}
