// A reverse proxy in front of a service, and clients that keep their connections.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
)

func listen(handler http.Handler) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, handler)
	return "http://" + listener.Addr().String()
}

func main() {
	requests, _ := strconv.Atoi(os.Args[1])
	service := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat(r.URL.Path, 40))
	}))
	target, _ := url.Parse(service)
	proxy := listen(httputil.NewSingleHostReverseProxy(target))
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 8
	var group sync.WaitGroup
	for client := range 4 {
		group.Go(func() {
			for i := client; i < requests; i += 4 {
				answer, err := http.Get(fmt.Sprintf("%s/item/%d", proxy, i))
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		})
	}
	group.Wait()
	fmt.Println(requests)
}
