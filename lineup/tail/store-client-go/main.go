// A cart that asks a store for each request; the store is slow now and then.
package main

import (
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

func serveStore(address string) {
	var count atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/stock", func(answer http.ResponseWriter, _ *http.Request) {
		if count.Add(1)%250 == 0 {
			time.Sleep(60 * time.Millisecond)
		}
		io.WriteString(answer, "17")
	})
	panic(http.ListenAndServe(address, mux))
}

func main() {
	if os.Args[1] == "store" {
		serveStore("127.0.0.1:" + os.Args[2])
	}
	store := "http://127.0.0.1:" + os.Args[2] + "/stock"
	http.HandleFunc("/cart", func(answer http.ResponseWriter, request *http.Request) {
		got, err := http.Get(store)
		if err != nil {
			http.Error(answer, err.Error(), 500)
			return
		}
		defer got.Body.Close()
		io.Copy(answer, got.Body)
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
