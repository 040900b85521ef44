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
	conn.(*net.TCPConn).SetNoDelay(false)
	sum := uint64(1)
	for i := 0; i < 25; i++ {
		for k := 0; k < 4000000; k++ {
			sum = sum*6364136223846793005 + 1
		}
		header := make([]byte, 4)
		binary.BigEndian.PutUint32(header, 500)
		conn.Write(header)
		conn.Write(make([]byte, 500))
		io.ReadFull(conn, header[:1])
	}
	fmt.Println(sum)
}
