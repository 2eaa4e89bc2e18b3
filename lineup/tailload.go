package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// tailLoad is who asks: connections that stay open, each with a pause between an answer and the next request.
type tailLoad struct {
	Connections int           `yaml:"connections"`
	Think       time.Duration `yaml:"think"` // mean of the pauses, which are exponential
	// Burst: each connection asks for one second in two without pauses of its own as long as this; 0: no bursts.
	Burst time.Duration `yaml:"burst"`
	Paths []string      `yaml:"paths"`
}

// run asks until ctx is done.
func (l *tailLoad) run(ctx context.Context, port int) error {
	var all sync.WaitGroup
	failed := make(chan error, l.Connections)
	for range l.Connections {
		all.Go(func() { failed <- l.ask(ctx, port) })
	}
	all.Wait()
	close(failed)
	var err error
	for one := range failed {
		err = errors.Join(err, one)
	}
	return err
}

func (l *tailLoad) ask(ctx context.Context, port int) error {
	connection, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	answer := make([]byte, 64<<10)
	for began := time.Now(); ctx.Err() == nil; {
		path := l.Paths[rand.IntN(len(l.Paths))]
		if _, err := fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err != nil {
			return err
		}
		if err := connection.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			return err
		}
		for have := 0; ; {
			n, err := connection.Read(answer[have:])
			if err != nil {
				return err
			}
			have += n
			if head := bytes.Index(answer[:have], []byte("\r\n\r\n")); head >= 0 && have >= head+6 { // a body of two bytes
				break
			}
		}
		pause := time.Duration(rand.ExpFloat64() * float64(l.Think))
		if l.Burst > 0 && time.Since(began)%(4*time.Second) < l.Burst {
			pause = 0
		}
		time.Sleep(min(pause, 10*l.Think))
	}
	return nil
}
