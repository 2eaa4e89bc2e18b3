// A document service: a fixed number of workers take connections, read a request, wait for the
// store and answer.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

var storage = make(chan chan string)

// store answers each question after the time its disk arm needs; it can have many under way.
func store() {
	for reply := range storage {
		time.AfterFunc(6*time.Millisecond, func() { reply <- strings.Repeat("paragraph ", 300) })
	}
}

func fetchDocument() string {
	reply := make(chan string, 1)
	storage <- reply
	return <-reply
}

func renderDocument(name, body string) uint64 {
	sum := fnv.New64a()
	for range 60 {
		sum.Write([]byte(name))
		sum.Write([]byte(body))
	}
	return sum.Sum64()
}

func handle(connection net.Conn) {
	defer connection.Close()
	name, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		return
	}
	fmt.Fprintf(connection, "%x\n", renderDocument(name, fetchDocument()))
}

func work(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		handle(connection)
	}
}

func ask(address string, number int) int {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "document-%d\n", number)
	answer, _ := bufio.NewReader(connection).ReadString('\n')
	return len(answer)
}

func main() {
	workers := flag.Int("workers", 12, "connections served at a time")
	requests := flag.Int("requests", 600, "how many")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go store()
	for range *workers {
		go work(listener)
	}
	var group sync.WaitGroup
	const clients = 16
	for client := range clients {
		group.Go(func() {
			for i := client; i < *requests; i += clients {
				ask(listener.Addr().String(), i)
			}
		})
	}
	group.Wait()
	fmt.Println("done")
}
