// Every request does the same.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	text := strings.Repeat("the quick brown fox ", 500)
	http.HandleFunc("/page", func(answer http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(answer, strings.Count(text, "fox"))
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
