// 20000 requests; each reads the configuration to find one setting.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
)

func config() []byte {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return text
}

func setting(text []byte, name string) []byte {
	_, rest, _ := bytes.Cut(text, []byte(name+"="))
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	return value
}

func main() {
	var sum [32]byte
	for request := 0; request < 20000; request++ {
		text := config()
		sum = sha256.Sum256(append(sum[:], setting(text, fmt.Sprintf("key%06d", request%4))...))
		for round := 0; round < 50; round++ {
			sum = sha256.Sum256(sum[:])
		}
	}
	fmt.Printf("%x\n", sum)
}
