package main

import "fmt"

func main() {
	state := uint64(1)
	length := 0
	for i := 0; i < 120; i++ {
		for k := 0; k < 1500000; k++ {
			state = state*6364136223846793005 + 1442695040888963407
		}
		length += len(fmt.Sprintln(state))
	}
	fmt.Println(length)
}
