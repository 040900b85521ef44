// Builds trees and adds them up; each node is an object of its own.
package main

import "fmt"

type node struct {
	left, right *node
	value       uint32
}

func build(depth int, value uint32) *node {
	if depth == 0 {
		return &node{value: value}
	}
	return &node{build(depth-1, value*2), build(depth-1, value*2+1), value}
}

func (n *node) sum() uint64 {
	if n == nil {
		return 0
	}
	return uint64(n.value) + n.left.sum() + n.right.sum()
}

func main() {
	total := uint64(0)
	for tree := 0; tree < 160; tree++ {
		total += build(14, uint32(tree)).sum()
	}
	fmt.Println(total)
}
