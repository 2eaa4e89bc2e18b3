// A shop (its own HTTP service) asks a quote service, another process, for each basket.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

func serveQuotes(delay time.Duration) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		fmt.Fprintf(w, "%d", crc32.ChecksumIEEE([]byte(r.URL.Path)))
	}))
}

type shop struct{ quotes string }

func (s shop) fetchQuote(basket string) string {
	answer, err := http.Get("http://" + s.quotes + basket)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

func (s shop) renderPage(basket, quote string) string {
	var page strings.Builder
	for i := range 900 {
		fmt.Fprintf(&page, "<li>%s %d %s</li>", basket, i, quote)
	}
	return page.String()
}

func (s shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, s.renderPage(r.URL.Path, s.fetchQuote(r.URL.Path)))
}

func browse(address string, pages int) (bytes int) {
	for i := range pages {
		answer, err := http.Get(fmt.Sprintf("http://%s/basket/%d", address, i))
		if err != nil {
			panic(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		bytes += len(text)
	}
	return bytes
}

func main() {
	quotes := flag.Bool("quotes", false, "be the quote service")
	delay := flag.Duration("delay", 0, "what a quote takes")
	flag.Parse()
	if *quotes {
		serveQuotes(*delay)
		return
	}
	peer := exec.Command(os.Args[0], "-quotes", "-delay", delay.String())
	output, _ := peer.StdoutPipe()
	if err := peer.Start(); err != nil {
		panic(err)
	}
	defer peer.Wait()
	defer peer.Process.Kill()
	var address string
	fmt.Fscanln(output, &address)
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 16
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	go http.Serve(listener, shop{address})
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() { browse(listener.Addr().String(), 90) })
	}
	group.Wait()
	fmt.Println("ok")
}
