// The same bytes without fmt and os: only the runtime remains.
package main

import "syscall"

func main() {
	syscall.Write(1, []byte("Hello, world!\n"))
}
