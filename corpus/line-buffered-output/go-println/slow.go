// A log of lines; fmt.Printf writes each one to the system.
package main

import "fmt"

func main() {
	state := uint32(1)
	for i := 0; i < 400000; i++ {
		state = state*1664525 + 1013904223
		word := "waiting"
		if state&1024 != 0 {
			word = "ready"
		}
		fmt.Printf("item %06d has value %010d and state %s\n", i, state, word)
	}
}
