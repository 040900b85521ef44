// For each of 8000 parts: reads the settings again, and looks for it under 40 endings, none of which is there.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
)

func main() {
	reads, looks := os.Getenv("FIRST") != "", os.Getenv("SECOND") != ""
	var text []byte
	var sum [32]byte
	found := 0
	for part := 0; part < 8000; part++ {
		if reads || part == 0 {
			text, _ = os.ReadFile(os.Args[1])
		}
		for ending := 0; looks && ending < 40; ending++ {
			if _, err := os.Stat(fmt.Sprintf("modules/part%d.x%d", part, ending)); err == nil {
				found++
			}
		}
		_, rest, _ := bytes.Cut(text, []byte(fmt.Sprintf("key%06d=", part%4)))
		value, _, _ := bytes.Cut(rest, []byte("\n"))
		sum = sha256.Sum256(append(sum[:], value...))
		for round := 0; round < 150; round++ {
			sum = sha256.Sum256(sum[:])
		}
	}
	fmt.Printf("%d %x\n", found, sum)
}
