// Builds and drops small trees while a large one stays: the collector marks the large one again and again.
package main

import "fmt"

type node struct {
	left, right *node
	value       [4]int
}

func build(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: build(depth - 1), right: build(depth - 1)}
}

var kept *node

func main() {
	kept = build(18)
	sum := 0
	for i := 0; i < 60; i++ {
		sum += build(14).value[0]
	}
	fmt.Println(sum)
}
