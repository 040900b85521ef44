package main

import (
	"fmt"
	"os"
)

func main() {
	found, sum := 0, uint64(1)
	names := map[string]bool{}
	if entries, err := os.ReadDir("modules"); err == nil {
		for _, entry := range entries {
			names[entry.Name()] = true
		}
	}
	for round := 0; round < 60; round++ {
		for folder := 0; folder < 12; folder++ {
			for extension := 0; extension < 60; extension++ {
				if names[fmt.Sprint(folder)] {
					found++
				}
				for k := 0; k < 2000; k++ {
					sum = sum*6364136223846793005 + 1
				}
			}
		}
	}
	fmt.Println(found, sum)
}
