package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamped is a connection that knows when the kernel got what it read last.
type stamped struct {
	net.Conn
	raw     syscall.RawConn
	began   time.Time // before the first byte of a request was written; zero: none is
	written time.Time // after that
	arrived time.Time
	spins   bool // it asks again and again, where the kernel keeps no times
	control [256]byte
}

func dial(network, address string) (*stamped, error) {
	dialled, err := net.Dial(network, address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	s := &stamped{Conn: dialled}
	if s.raw, err = dialled.(syscall.Conn).SyscallConn(); err != nil {
		return nil, err
	}
	failed := err
	if err := s.raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
	}); err != nil {
		return nil, err
	}
	return s, failed
}

// Write sends; the first one since reset is the begin of a request.
func (s *stamped) Write(data []byte) (int, error) {
	if s.began.IsZero() {
		s.began = time.Now().Round(0)
	}
	n, err := s.Conn.Write(data)
	if s.written.IsZero() {
		s.written = time.Now().Round(0)
	}
	return n, err
}

// Read receives with the time at which the kernel got the data. Where it keeps none, unix sockets,
// it is the time of now: the client's own lateness is in it, unless it is the only one and spins.
func (s *stamped) Read(into []byte) (length int, err error) {
	var failed error
	at := time.Time{}
	err = s.raw.Read(func(fd uintptr) bool {
		var control int
		length, control, _, _, failed = unix.Recvmsg(int(fd), into, s.control[:], unix.MSG_DONTWAIT)
		for s.spins && failed == unix.EAGAIN {
			length, control, _, _, failed = unix.Recvmsg(int(fd), into, s.control[:], unix.MSG_DONTWAIT)
		}
		if failed == unix.EAGAIN {
			return false
		}
		messages, _ := unix.ParseSocketControlMessage(s.control[:max(control, 0)])
		for _, message := range messages {
			if message.Header.Type == unix.SO_TIMESTAMPNS_NEW && len(message.Data) >= 16 {
				stamp := (*unix.Timespec)(unsafe.Pointer(unsafe.SliceData(message.Data)))
				at = time.Unix(stamp.Sec, stamp.Nsec)
			}
		}
		return true
	})
	if err == nil {
		err = failed
	}
	if err == nil && length == 0 {
		err = io.EOF
	}
	if at.IsZero() {
		at = time.Now().Round(0)
	}
	s.arrived = at
	return length, err
}

// took is how long requests took, at least and at most: each reached the server while it was sent.
type took struct{ least, most []time.Duration }

func (t *took) sort() {
	slices.Sort(t.least)
	slices.Sort(t.most)
}

// session asks over one connection that is ready for it.
type session func() error

// askAll sends requests over connections of its own: all have asked once before gate opens.
func (o options) askAll(s *server, gate <-chan struct{}, opened *sync.WaitGroup) (*took, error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var failed error
	sum := &took{}
	for i := range o.connections {
		all.Go(func() {
			mine, err := o.askOne(s, i%2 == 0, gate, opened)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
				return
			}
			sum.least, sum.most = append(sum.least, mine.least...), append(sum.most, mine.most...)
		})
	}
	all.Wait()
	sum.sort()
	return sum, failed
}

// askOne is one connection. Half of them are older than the recording, the others are opened in it.
func (o options) askOne(s *server, early bool, gate <-chan struct{}, opened *sync.WaitGroup) (*took, error) {
	if !early {
		opened.Done()
		<-gate
	}
	connection, ask, err := s.open()
	if early {
		opened.Done()
		<-gate
	}
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	connection.spins = s.unix && o.connections == 1
	mine := &took{}
	for range o.requests / o.connections {
		connection.began, connection.written = time.Time{}, time.Time{}
		if err := ask(); err != nil {
			return nil, err
		}
		mine.least = append(mine.least, connection.arrived.Sub(connection.written))
		mine.most = append(mine.most, connection.arrived.Sub(connection.began))
		if o.think > 0 {
			time.Sleep(time.Duration(rand.ExpFloat64() * float64(o.think)))
		}
	}
	return mine, nil
}
