// Goroutines that wait in different ways, and where each is; ends with its standard input.
package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

func here() uintptr

var lock sync.RWMutex

func told(name string, wait func()) {
	at := make(chan uintptr)
	go func() {
		at <- here()
		wait()
	}()
	fmt.Printf("%s %x\n", name, <-at)
}

//go:noinline
func waitForLock() { lock.RLock(); lock.RUnlock() }

//go:noinline
func waitForTime() { time.Sleep(time.Hour) }

//go:noinline
func waitForNews() { <-make(chan int) }

func main() {
	lock.Lock()
	told("lock", waitForLock)
	told("sleep", waitForTime)
	told("channel", waitForNews)
	told("spin", func() {
		for {
		}
	})
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		panic(err)
	}
	told("call", func() { syscall.Read(ends[0], make([]byte, 1)) })
	time.Sleep(50 * time.Millisecond) // all wait by then
	fmt.Println("ready 0")
	io.Copy(io.Discard, os.Stdin)
}
