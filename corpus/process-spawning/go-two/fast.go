package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	file, err := os.Create("log")
	if err != nil {
		panic(err)
	}
	log := bufio.NewWriter(file)
	length := 0
	for i := 0; i < 150; i++ {
		length += 5
		for k := 0; k < 400; k++ {
			fmt.Fprintf(log, "%d %d\n", i, k)
		}
	}
	log.Flush()
	sum := uint64(1)
	for k := 0; k < 100000000; k++ {
		sum = sum*6364136223846793005 + 1
	}
	fmt.Println(length, sum == 7)
}
