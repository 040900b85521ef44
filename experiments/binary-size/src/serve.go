// An HTTP server that answers hello: a whole server in one file, like the published binary.
package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:8080", nil))
	os.Exit(1)
}
