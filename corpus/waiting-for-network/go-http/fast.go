// Fetch 100 pages from a server that takes 6 ms for each, all at once.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

func work(value []byte) []byte {
	for i := 0; i < 12000; i++ {
		sum := sha256.Sum256(value)
		value = sum[:]
	}
	return value
}

func fetch(address string, key int) ([]byte, error) {
	reply, err := http.Get(fmt.Sprintf("http://%s/%d", address, key))
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	return io.ReadAll(reply.Body)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(6 * time.Millisecond)
		fmt.Fprint(w, r.URL.Path)
	}))
	pages := make([][]byte, 100)
	var all sync.WaitGroup
	for key := range pages {
		all.Add(1)
		go func() {
			defer all.Done()
			page, err := fetch(listener.Addr().String(), key)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			pages[key] = work(page)
		}()
	}
	all.Wait()
	total := byte(0)
	for _, page := range pages {
		total ^= page[0]
	}
	fmt.Println(total)
}
