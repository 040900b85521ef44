package main

import "fmt"

func main() {
	total, sum := 0, uint64(1)
	for i := 0; i < 30; i++ {
		for k := 0; k < 5000000; k++ {
			sum = sum*6364136223846793005 + 1
		}
		total += 2
	}
	fmt.Println(total, sum == 7)
}
