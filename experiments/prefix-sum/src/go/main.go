// Turns 100 integers into their successive differences, and back into prefix sums, in place.
//
// Usage: prefix-sum differences|prefix|prefixinregister
package main

import (
	"os"
	"testing"

	"gomeasure"
)

const length = 100

// differences replaces each element by its distance from the one before. No step needs the result of another.
func differences(values []int) {
	for i := len(values) - 1; i > 0; i-- {
		values[i] -= values[i-1]
	}
}

// prefix replaces each element by the sum up to it. Each step reads what the step before has just stored.
func prefix(values []int) {
	for i := 1; i < len(values); i++ {
		values[i] += values[i-1]
	}
}

// prefixInRegister keeps the running sum out of memory: the chain is then one addition for each element.
func prefixInRegister(values []int) {
	sum := 0
	for i, value := range values {
		sum += value
		values[i] = sum
	}
}

func checkAll() {
	values := make([]int, length)
	for _, sum := range []func([]int){prefix, prefixInRegister} {
		for i := range values {
			values[i] = i * i
		}
		differences(values)
		gomeasure.Check(values[length-1] == 2*length-3, "the differences of squares")
		sum(values)
		for i := range values {
			gomeasure.Check(values[i] == i*i, "prefix sums undo differences")
		}
	}
}

func main() {
	variants := map[string]func([]int){
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
	values := make([]int, length)
	for i := range values {
		values[i] = i
	}
	gomeasure.Run(func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			work(values)
		}
	}).Print("pass")
}
