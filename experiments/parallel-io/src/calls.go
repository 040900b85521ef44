// Three calls of an API that takes 50 ms each, one after another or at once.
//
//	calls sequential|parallel CALLS
//
// A goroutine per call represents the published runtime's threads. The API is a separate process on
// the loopback interface, `calls serve`, which ends at the end of its standard input. Prints the
// time of all calls and of the slowest one.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
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

// serve prints its address, answers each request after the delay, and ends with its input.
func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(delay)
		io.WriteString(w, `{"ok":true}`)
	}))
	fmt.Printf("http://%s/\n", listener.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// start starts the server; stop ends it and waits for it.
func start() (url string, stop func() error, err error) {
	server := exec.Command(os.Args[0], "serve")
	server.Stderr = os.Stderr
	input, err := server.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	output, err := server.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err = server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error {
		input.Close()
		return server.Wait()
	}
	url, err = bufio.NewReader(output).ReadString('\n')
	if err != nil {
		stop()
	}
	return strings.TrimSpace(url), stop, err
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1e6
}

func run(way func(string, []time.Duration, []error), count int) error {
	url, stop, err := start()
	if err != nil {
		return err
	}
	defer stop()
	if _, err := call(url); err != nil { // a warm-up, as in calls.js
		return err
	}
	times, errs := make([]time.Duration, count), make([]error, count)
	begin := time.Now()
	way(url, times, errs)
	took := time.Since(begin)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	slowest := slices.Max(times)
	_, err = fmt.Printf("took %.3f ms, slowest %.3f ms, over %.3f ms\n",
		milliseconds(took), milliseconds(slowest), milliseconds(took-slowest))
	return err
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		check(serve())
		return
	}
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
	check(run(ways[os.Args[1]], count))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
}
