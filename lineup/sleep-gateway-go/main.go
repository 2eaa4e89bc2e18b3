// Command gateway passes requests on to a store that answers after a while, over a pool of
// connections.
//
//	gateway -requests 900 -pool 8
package main

import (
	"bufio"
	"crypto/sha256"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"
)

// store answers each line of each connection after 2 ms.
func store(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			lines := bufio.NewScanner(connection)
			for lines.Scan() {
				time.Sleep(2 * time.Millisecond)
				fmt.Fprintf(connection, "%x\n", sha256.Sum256(lines.Bytes()))
			}
		}()
	}
}

type gateway struct{ idle chan *bufio.ReadWriter }

func (g *gateway) pass(request int) (string, error) {
	connection := <-g.idle
	defer func() { g.idle <- connection }()
	fmt.Fprintf(connection, "request %d\n", request)
	if err := connection.Flush(); err != nil {
		return "", err
	}
	return connection.ReadString('\n')
}

func open(address string, pool int) (*gateway, error) {
	g := &gateway{idle: make(chan *bufio.ReadWriter, pool)}
	for range pool {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		g.idle <- bufio.NewReadWriter(bufio.NewReader(connection), bufio.NewWriter(connection))
	}
	return g, nil
}

func main() {
	requests := flag.Int("requests", 900, "requests to pass on")
	pool := flag.Int("pool", 8, "connections to the store")
	serve := flag.Bool("store", false, "be the store, on the listening socket 3")
	flag.Parse()
	if *serve {
		listener, err := net.FileListener(os.NewFile(3, "listener"))
		if err != nil {
			panic(err)
		}
		store(listener)
		return
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		panic(err)
	}
	file, err := listener.File()
	if err != nil {
		panic(err)
	}
	child := exec.Command(os.Args[0], "-store")
	child.ExtraFiles = []*os.File{file}
	if err := child.Start(); err != nil {
		panic(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()
	g, err := open(listener.Addr().String(), *pool)
	if err != nil {
		panic(err)
	}
	work(g, *requests)
}

// work has eight clients ask at a time.
func work(g *gateway, requests int) {
	var group sync.WaitGroup
	for client := range 8 {
		group.Go(func() {
			for request := client; request < requests; request += 8 {
				if _, err := g.pass(request); err != nil {
					panic(err)
				}
			}
		})
	}
	group.Wait()
	fmt.Println(requests)
}
