package main

import (
	"fmt"
	"os"
)

func main() {
	found, sum := 0, uint64(1)
	for round := 0; round < 60; round++ {
		for folder := 0; folder < 12; folder++ {
			for extension := 0; extension < 60; extension++ {
				if _, err := os.Stat(fmt.Sprintf("modules/%d/part%d.x%d", folder, round, extension)); err == nil {
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
