// A server whose handlers wait for some 40 ms in three ways.
package main

import (
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

const wait = 40 * time.Millisecond

var (
	lock sync.RWMutex
	held = make(chan bool)
	sum  uint64
)

// countUp is inlined into the job that holds the lock meanwhile.
func countUp(until time.Time) {
	for ; time.Now().Before(until); sum++ {
	}
}

func job(begin <-chan bool) {
	for range begin {
		lock.Lock()
		held <- true
		countUp(time.Now().Add(wait))
		lock.Unlock()
	}
}

func takeLock() {
	lock.RLock()
	defer lock.RUnlock()
}

func takeRest() { time.Sleep(wait) }

func takeNews() {
	news := make(chan bool)
	go func() {
		time.Sleep(wait)
		news <- true
	}()
	<-news
}

func main() {
	begin := make(chan bool)
	go job(begin)
	for path, do := range map[string]func(){"/rest": takeRest, "/news": takeNews, "/lock": func() {
		begin <- true
		<-held
		takeLock()
	}} {
		http.HandleFunc(path, func(answer http.ResponseWriter, _ *http.Request) {
			do()
			io.WriteString(answer, "ok")
		})
	}
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
