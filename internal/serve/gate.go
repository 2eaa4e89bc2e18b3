package serve

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Limits of connections.
const (
	connectionsMax = 256
	refusalsMax    = 32 // that are told why at one time; more are closed
	refusalTime    = 2 * time.Second
	drainedMax     = 1 << 16 // bytes read after a refusal
)

// gate is a listener that bounds how many connections there are and, where owner is given, lets in
// only those of this process's own user and of root. It looks once per connection, before a byte of
// it is read.
type gate struct {
	net.Listener
	owner    func(net.Conn) (uint32, error) // nil: everybody
	self     uint32
	slots    chan struct{}
	refusals chan struct{}
	metrics  *metrics
}

func newGate(listener net.Listener, owner func(net.Conn) (uint32, error), m *metrics) *gate {
	return &gate{Listener: listener, owner: owner, self: uint32(os.Geteuid()), metrics: m,
		slots: make(chan struct{}, connectionsMax), refusals: make(chan struct{}, refusalsMax)}
}

// Accept waits for a connection that may come in.
func (g *gate) Accept() (net.Conn, error) {
	for {
		connection, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if why := g.stranger(connection); why != "" {
			g.metrics.refuse("user")
			g.refuse(connection, "403 Forbidden", why)
			continue
		}
		select {
		case g.slots <- struct{}{}:
			return &admitted{Conn: connection, leave: sync.OnceFunc(func() { <-g.slots })}, nil
		default:
			g.metrics.refuse("connections")
			g.refuse(connection, "503 Service Unavailable", "too many connections; close some")
		}
	}
}

// stranger says why a connection may not come in; "" where it may.
func (g *gate) stranger(connection net.Conn) string {
	if g.owner == nil {
		return ""
	}
	uid, err := g.owner(connection)
	switch {
	case err != nil:
		return "it cannot be told whose connection this is; serve with --token-file"
	case uid != g.self && uid != 0:
		return fmt.Sprintf("this server is user %d's; serve with --token-file to let in others", g.self)
	}
	return ""
}

// refuse answers in one line and closes, without a handler and without waiting for it.
func (g *gate) refuse(connection net.Conn, status, line string) {
	select {
	case g.refusals <- struct{}{}:
	default:
		_ = connection.Close() // there is nobody to tell
		return
	}
	go func() {
		defer func() { <-g.refusals }()
		defer func() { _ = connection.Close() }() // was answered
		if err := connection.SetDeadline(time.Now().Add(refusalTime)); err != nil {
			return
		}
		_, _ = connection.Read(make([]byte, 4096)) // an answer goes out either way
		fmt.Fprintf(connection, "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\n"+
			"Content-Length: %d\r\nConnection: close\r\n\r\n%s\n", status, len(line)+1, line)
		drain(connection)
	}()
}

// drain reads what is still being asked: closing with unread bytes resets the connection, and the
// answer is lost.
func drain(connection net.Conn) {
	if tcp, ok := connection.(*net.TCPConn); ok && tcp.CloseWrite() != nil {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(connection, drainedMax)) // ends with the client or the deadline
}

// admitted gives its place free when it is closed.
type admitted struct {
	net.Conn
	leave func()
}

// Close ends the connection.
func (a *admitted) Close() error {
	a.leave()
	return a.Conn.Close()
}
