// Five million small items; the time is asked for before and after each.
package main

import (
	"fmt"
	"time"
)

const items, every = 5_000_000, 1

func main() {
	value := uint64(1)
	spent := time.Duration(0)
	for item := 0; item < items; item += every {
		began := time.Now()
		for one := item; one < item+every && one < items; one++ {
			for round := 0; round < 16; round++ {
				value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15
			}
		}
		spent += time.Since(began)
	}
	fmt.Printf("%016x %v\n", value, spent > 0)
}
