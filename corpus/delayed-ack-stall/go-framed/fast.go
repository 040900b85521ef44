package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

func serve(listener net.Listener) {
	conn, _ := listener.Accept()
	for {
		header := make([]byte, 4)
		if _, err := io.ReadFull(conn, header); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(header))
		io.ReadFull(conn, body)
		conn.Write([]byte{1})
	}
}

func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	go serve(listener)
	conn, _ := net.Dial("tcp", listener.Addr().String())
	sum := uint64(1)
	for i := 0; i < 25; i++ {
		for k := 0; k < 4000000; k++ {
			sum = sum*6364136223846793005 + 1
		}
		message := make([]byte, 504)
		binary.BigEndian.PutUint32(message, 500)
		conn.Write(message)
		io.ReadFull(conn, message[:1])
	}
	fmt.Println(sum)
}
