// The same bytes without fmt and os: what is left is the runtime.
package main

import "syscall"

func main() {
	syscall.Write(1, []byte("Hello, world!\n"))
}
