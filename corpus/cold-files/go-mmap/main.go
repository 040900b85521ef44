package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	info, _ := file.Stat()
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	syscall.Madvise(data, syscall.MADV_RANDOM)
	at, sum := uint64(99), uint64(1)
	for i := 0; i < 1500; i++ {
		at = at*6364136223846793005 + 1442695040888963407
		sum += uint64(data[(at>>33)%uint64(len(data))])
		for k := 0; k < 30000; k++ {
			sum = sum*31 + 7
		}
	}
	fmt.Println(sum)
}
