// Builds trees and adds them up; all nodes of a tree lie in one slice that the next tree uses again.
package main

import "fmt"

type node struct {
	left, right int32
	value       uint32
}

func build(nodes []node, depth int, value uint32) ([]node, int32) {
	at := int32(len(nodes))
	nodes = append(nodes, node{-1, -1, value})
	if depth > 0 {
		var left, right int32
		nodes, left = build(nodes, depth-1, value*2)
		nodes, right = build(nodes, depth-1, value*2+1)
		nodes[at].left, nodes[at].right = left, right
	}
	return nodes, at
}

func sum(nodes []node, at int32) uint64 {
	if at < 0 {
		return 0
	}
	return uint64(nodes[at].value) + sum(nodes, nodes[at].left) + sum(nodes, nodes[at].right)
}

func main() {
	total := uint64(0)
	nodes := make([]node, 0, 1<<15)
	for tree := 0; tree < 160; tree++ {
		var root int32
		nodes, root = build(nodes[:0], 14, uint32(tree))
		total += sum(nodes, root)
	}
	fmt.Println(total)
}
