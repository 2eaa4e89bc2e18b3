// Command neighbour folds numbers; while it does so, something else may keep the other CPU busy.
//
//	neighbour -busy SOCKET &   # computes as long as somebody is connected
//	neighbour 40 ""            # folds alone
//	neighbour 40 SOCKET        # folds beside it
package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// fold mixes a number so many times.
//
//go:noinline
func fold(seed uint64, times int) uint64 {
	for range times {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
	}
	return seed
}

// busy computes while somebody is connected.
func busy(socket string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		var gone atomic.Bool
		go func() {
			_, _ = connection.Read(make([]byte, 1)) // ends with the other side
			gone.Store(true)
		}()
		for sum := uint64(1); !gone.Load(); {
			sum = fold(sum, 10_000)
		}
		connection.Close()
	}
}

func run(words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("usage: neighbour -busy SOCKET | MILLIONS SOCKET")
	}
	if words[0] == "-busy" {
		return busy(words[1])
	}
	millions, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	if words[1] != "" {
		connection, err := net.Dial("unix", words[1])
		if err != nil {
			return err
		}
		defer connection.Close()
	}
	sum := uint64(7)
	for range millions {
		sum = fold(sum, 1_000_000)
	}
	fmt.Println(sum)
	return nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "neighbour:", err)
		os.Exit(2)
	}
}
