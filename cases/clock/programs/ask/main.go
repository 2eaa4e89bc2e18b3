// Command ask puts a steady load on the store: batches of rows at a rate that does not depend on
// how fast the answers come, over some connections.
//
//	ask -rate 200 -connections 4 -rows 10 -d 10s 127.0.0.1:7000
//
// It prints one line: "requests 2000 errors 0 mean_us 410 p50_us 380 p99_us 1200". A latency counts
// from when the request was due.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

type load struct {
	address     string
	rate        float64
	connections int
	rows        int
	lasts       time.Duration
	patience    time.Duration // how long the store may take until it listens
}

func main() {
	var l load
	flag.Float64Var(&l.rate, "rate", 200, "requests a second, over all connections")
	flag.IntVar(&l.connections, "connections", 4, "connections")
	flag.IntVar(&l.rows, "rows", 10, "rows of a request")
	flag.DurationVar(&l.lasts, "d", 10*time.Second, "how long")
	flag.DurationVar(&l.patience, "wait", 0, "how long to wait until the store listens")
	flag.Parse()
	l.address = flag.Arg(0)
	if err := run(l); err != nil {
		fmt.Fprintf(os.Stderr, "ask: %v\n", err)
		os.Exit(1)
	}
}

func run(l load) error {
	if err := l.await(); err != nil {
		return err
	}
	latencies, failed := l.put()
	if len(latencies) == 0 {
		return fmt.Errorf("no request was answered: %w", failed)
	}
	slices.Sort(latencies)
	var sum time.Duration
	for _, one := range latencies {
		sum += one
	}
	errors := 0
	if failed != nil {
		errors = 1
	}
	at := func(part float64) int64 { return latencies[int(part*float64(len(latencies)-1))].Microseconds() }
	fmt.Printf("requests %d errors %d mean_us %d p50_us %d p99_us %d\n", len(latencies), errors,
		(sum / time.Duration(len(latencies))).Microseconds(), at(0.5), at(0.99))
	return nil
}

// await waits until the store listens.
func (l load) await() error {
	for end := time.Now().Add(l.patience); ; time.Sleep(50 * time.Millisecond) {
		to, err := net.Dial("tcp", l.address)
		if err == nil {
			return to.Close()
		}
		if time.Now().After(end) {
			return err
		}
	}
}

// put sends the load over all connections, and returns what answers took and the first error.
func (l load) put() (latencies []time.Duration, failed error) {
	var all sync.WaitGroup
	var lock sync.Mutex
	began := time.Now()
	for i := range l.connections {
		all.Go(func() {
			// Connections take turns: their requests are not due at the same time.
			first := began.Add(time.Duration(float64(i) / l.rate * float64(time.Second)))
			own, err := l.connection(first, began.Add(l.lasts))
			lock.Lock()
			defer lock.Unlock()
			latencies = append(latencies, own...)
			if failed == nil {
				failed = err
			}
		})
	}
	all.Wait()
	return latencies, failed
}

// connection sends its part of the load over a connection of its own.
func (l load) connection(due, end time.Time) (latencies []time.Duration, err error) {
	to, err := net.Dial("tcp", l.address)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	every := time.Duration(float64(l.connections) / l.rate * float64(time.Second))
	request := binary.BigEndian.AppendUint32(nil, uint32(l.rows))
	request = append(request, make([]byte, 16*l.rows)...)
	answer := make([]byte, 4)
	for number := uint64(due.UnixNano()); due.Before(end); due = due.Add(every) {
		time.Sleep(time.Until(due))
		for row := range l.rows {
			number = number*6364136223846793005 + 1442695040888963407
			binary.BigEndian.PutUint64(request[4+16*row:], number>>33)
			binary.BigEndian.PutUint64(request[12+16*row:], number)
		}
		if _, err := to.Write(request); err != nil {
			return latencies, err
		}
		if _, err := io.ReadFull(to, answer); err != nil {
			return latencies, err
		}
		latencies = append(latencies, time.Since(due))
	}
	return latencies, nil
}
