// A build tool: writes four units and has the compiler make objects of them.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func unit(number int) string {
	var text strings.Builder
	for i := 0; i < 60; i++ {
		fmt.Fprintf(&text, "int f%d_%d(int n) { int s = n; for (int i = 0; i < n; i++) s += (s ^ i) %% %d; return s; }\n", number, i, i+3)
	}
	return text.String()
}

func compile(name string) int64 {
	if out, err := exec.Command("gcc", "-O2", "-c", "-o", name+".o", name+".c").CombinedOutput(); err != nil {
		panic(string(out))
	}
	object, err := os.Stat(name + ".o")
	if err != nil {
		panic(err)
	}
	return object.Size()
}

func main() {
	total := int64(0)
	for number := 0; number < 4; number++ {
		name := fmt.Sprintf("unit%d", number)
		if err := os.WriteFile(name+".c", []byte(unit(number)), 0o644); err != nil {
			panic(err)
		}
		total += compile(name)
	}
	fmt.Println(total, "bytes")
}
