// Three calls of an API that takes 50 ms each, one after the other or at once.
//
//	calls sequential|parallel CALLS
//
// A goroutine for each call stands in for the published runtime's threads. The API is a server
// of this process on the loopback interface. Prints the time of all calls and of the slowest one.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

const delay = 50 * time.Millisecond

func call(url string) (time.Duration, error) {
	start := time.Now()
	response, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return time.Since(start), err
}

func sequential(url string, times []time.Duration, errs []error) {
	for i := range times {
		times[i], errs[i] = call(url)
	}
}

func parallel(url string, times []time.Duration, errs []error) {
	var group sync.WaitGroup
	for i := range times {
		group.Go(func() { times[i], errs[i] = call(url) })
	}
	group.Wait()
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1e6
}

func main() {
	ways := map[string]func(string, []time.Duration, []error){"sequential": sequential, "parallel": parallel}
	if len(os.Args) != 3 || ways[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: calls sequential|parallel CALLS")
		os.Exit(2)
	}
	count, err := strconv.Atoi(os.Args[2])
	if err != nil || count < 1 {
		fmt.Fprintln(os.Stderr, "calls: CALLS must be 1 or more")
		os.Exit(2)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(delay)
		io.WriteString(w, `{"ok":true}`)
	}))
	defer server.Close()
	if _, err := call(server.URL); err != nil { // one that does not count, as in calls.js
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
	times, errs := make([]time.Duration, count), make([]error, count)
	start := time.Now()
	ways[os.Args[1]](server.URL, times, errs)
	took := time.Since(start)
	for _, err := range errs {
		if err != nil {
			fmt.Fprintln(os.Stderr, "calls:", err)
			os.Exit(1)
		}
	}
	slowest := slices.Max(times)
	fmt.Printf("took %.3f ms, slowest %.3f ms, over %.3f ms\n",
		milliseconds(took), milliseconds(slowest), milliseconds(took-slowest))
}
