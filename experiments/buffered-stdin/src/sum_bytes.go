// Sums the bytes of standard input and prints how long that took by its own clock.
//
//	sum_bytes unbuffered|buffered
//
// unbuffered reads one byte per call from os.Stdin, which has no buffer; buffered puts a
// bufio.Reader (4 KiB) around it.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"
)

func sumUnbuffered(input io.Reader) (sum uint64, err error) {
	one := make([]byte, 1)
	for {
		if _, err := input.Read(one); err == io.EOF {
			return sum, nil
		} else if err != nil {
			return sum, err
		}
		sum += uint64(one[0])
	}
}

func sumBuffered(input io.ByteReader) (sum uint64, err error) {
	for {
		one, err := input.ReadByte()
		if err == io.EOF {
			return sum, nil
		} else if err != nil {
			return sum, err
		}
		sum += uint64(one)
	}
}

func main() {
	unbuffered := len(os.Args) > 1 && os.Args[1] == "unbuffered"
	start := time.Now()
	var sum uint64
	var err error
	if unbuffered {
		sum, err = sumUnbuffered(os.Stdin)
	} else {
		sum, err = sumBuffered(bufio.NewReader(os.Stdin))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sum_bytes:", err)
		os.Exit(1)
	}
	took := float64(time.Since(start).Nanoseconds()) / 1e3
	fmt.Printf("sum %d, took %.3f us\n", sum, took)
}
