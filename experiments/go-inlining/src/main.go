// Measures the cost of calls that Go can't inline: of a helper kept out of line, and of a recursive function.
//
// Usage: go-inlining inlined|outofline|loop|recursive
package main

import (
	"os"

	"gomeasure"
)

var sink int

func isOdd(i int) bool { return i%2 == 1 }

//go:noinline
func isOddOutOfLine(i int) bool { return i%2 == 1 }

func sumInlined() int {
	sum := 0
	for i := 0; i < 1000; i++ {
		if isOdd(i) {
			sum += i
		}
	}
	return sum
}

func sumOutOfLine() int {
	sum := 0
	for i := 0; i < 1000; i++ {
		if isOddOutOfLine(i) {
			sum += i
		}
	}
	return sum
}

func factorialRecursive(n int) int {
	if n <= 1 {
		return 1
	}
	return n * factorialRecursive(n-1)
}

func factorialLoop(n int) int {
	product := 1
	for ; n > 1; n-- {
		product *= n
	}
	return product
}

func sumRecursive() int {
	sum := 0
	for i := 0; i < 1000; i++ {
		sum += factorialRecursive(i % 20)
	}
	return sum
}

func sumLoop() int {
	sum := 0
	for i := 0; i < 1000; i++ {
		sum += factorialLoop(i % 20)
	}
	return sum
}

func main() {
	variants := map[string]func() int{
		"inlined": sumInlined, "outofline": sumOutOfLine, "loop": sumLoop, "recursive": sumRecursive,
	}
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	work := variants[name]
	if work == nil {
		gomeasure.Fail("usage: go-inlining inlined|outofline|loop|recursive")
	}
	gomeasure.Check(sumInlined() == 250000 && sumOutOfLine() == 250000, "the odd numbers below 1,000 add up to 250,000")
	gomeasure.Check(sumLoop() == sumRecursive(), "both factorials agree")
	gomeasure.Run(func(n int) {
		for i := 0; i < n; i++ {
			sink = work()
		}
	}).Print("sum")
}
