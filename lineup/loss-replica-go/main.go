// Command replica sends changes to a follower and waits for each to be confirmed.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
)

const changeSize = 900

func follow(listener net.Listener) {
	leader, err := listener.Accept()
	if err != nil {
		return
	}
	change, confirmed := make([]byte, changeSize), make([]byte, 32)
	for {
		if _, err := io.ReadFull(leader, change); err != nil {
			return
		}
		sum := apply(change)
		copy(confirmed, sum[:])
		if _, err := leader.Write(confirmed); err != nil {
			return
		}
	}
}

func apply(change []byte) [32]byte {
	sum := sha256.Sum256(change)
	for range 80 {
		sum = sha256.Sum256(append(sum[:], change...))
	}
	return sum
}

func replicate(follower net.Conn, change, confirmed []byte) error {
	if _, err := follower.Write(change); err != nil {
		return err
	}
	_, err := io.ReadFull(follower, confirmed)
	return err
}

func run(changes int) error {
	listener, err := net.Listen("tcp", "127.0.0.1:7400")
	if err != nil {
		return err
	}
	go follow(listener)
	follower, err := net.Dial("tcp", "127.0.0.1:7400")
	if err != nil {
		return err
	}
	change, confirmed := make([]byte, changeSize), make([]byte, 32)
	total := 0
	for i := range changes {
		change[i%changeSize]++
		if err := replicate(follower, change, confirmed); err != nil {
			return err
		}
		total += int(confirmed[0])
	}
	fmt.Println(total)
	return nil
}

func main() {
	changes, _ := strconv.Atoi(os.Args[1])
	if err := run(changes); err != nil {
		fmt.Fprintln(os.Stderr, "replica:", err)
		os.Exit(2)
	}
}
