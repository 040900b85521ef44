// Ships audit records to a collector, a process of its own, over a unix socket. The argument is
// how many milliseconds the collector takes for 64 KiB.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"
)

func collect(pause int) {
	os.Remove("collector")
	listener, err := net.Listen("unix", "collector")
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	peer, err := listener.Accept()
	if err != nil {
		panic(err)
	}
	block := make([]byte, 65536)
	for err == nil {
		_, err = io.ReadFull(peer, block)
		time.Sleep(time.Duration(pause) * time.Millisecond)
	}
}

func main() {
	if len(os.Args) > 2 {
		pause, _ := strconv.Atoi(os.Args[2])
		collect(pause)
		return
	}
	collector := exec.Command(os.Args[0], "collect", os.Args[1])
	ready, _ := collector.StdoutPipe()
	if err := collector.Start(); err != nil {
		panic(err)
	}
	bufio.NewReader(ready).ReadString('\n')
	socket, err := net.Dial("unix", "collector")
	if err != nil {
		panic(err)
	}
	out := bufio.NewWriterSize(socket, 32768)
	sum := uint64(1)
	for record := 0; record < 120000; record++ {
		for round := 0; round < 300; round++ {
			sum = (sum ^ sum>>29) * 0x9E3779B97F4A7C15
		}
		fmt.Fprintf(out, "audit id=%d user=%d action=login\n", record, sum%977)
	}
	out.Flush()
	socket.Close()
	collector.Wait()
	fmt.Println(sum)
}
