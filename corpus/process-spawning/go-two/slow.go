package main

import (
	"fmt"
	"os"
	"os/exec"
)

func main() {
	log, err := os.Create("log")
	if err != nil {
		panic(err)
	}
	length := 0
	for i := 0; i < 150; i++ {
		out, err := exec.Command("/bin/date", "+%Y").Output()
		if err != nil {
			panic(err)
		}
		length += len(out)
		for k := 0; k < 400; k++ {
			fmt.Fprintf(log, "%d %d\n", i, k)
		}
	}
	fmt.Println(length)
}
