package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		io.WriteString(w, "42")
	}))
	total := 0
	for i := 0; i < 30; i++ {
		answer, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			panic(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		total += len(body)
	}
	fmt.Println(total)
}
