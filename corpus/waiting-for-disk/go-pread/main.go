package main

import (
	"fmt"
	"os"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	block := make([]byte, 4096)
	at, sum := uint64(12345), uint64(0)
	for i := 0; i < 1500; i++ {
		at = at*6364136223846793005 + 1442695040888963407
		file.ReadAt(block, int64(at>>33%16000)*4096)
		for _, b := range block {
			for k := uint64(0); k < 12; k++ {
				sum = sum*31 + uint64(b) + k
			}
		}
	}
	fmt.Println(sum)
}
