// Command shop answers with the address of the host that knows the prices, which it asks a name
// server for each time. The server is a process of the same program. usage: shop PORT NAMES
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const (
	every = 150
	late  = 60 * time.Millisecond
)

// answer is that to a question for an address: 127.0.0.9 (RFC 1035).
func answer(question []byte) []byte {
	end := 12
	for question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5
	reply := append([]byte{}, question[:end]...)
	reply[2], reply[3] = 0x81, 0x80
	clear(reply[6:12])
	if question[end-3] == 1 {
		reply[7] = 1
		reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 9)
	}
	return reply
}

func serveNames(at string) error {
	socket, err := net.ListenPacket("udp", at)
	if err != nil {
		return err
	}
	question := make([]byte, 1500)
	for asked := 1; ; asked++ {
		length, from, err := socket.ReadFrom(question)
		if err != nil {
			return err
		}
		reply := answer(question[:length])
		if asked%every != 0 {
			_, _ = socket.WriteTo(reply, from)
			continue
		}
		time.AfterFunc(late, func() { _, _ = socket.WriteTo(reply, from) })
	}
}

func serve(port, names string) error {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", names)
	}}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		addresses, err := resolver.LookupIP(r.Context(), "ip4", "prices.shop.example.")
		_, _ = fmt.Fprintln(w, addresses, err)
	})
	return http.ListenAndServe("127.0.0.1:"+port, nil)
}

func main() {
	port, names := os.Args[1], "127.0.0.1:"+os.Args[2]
	if port == "names" {
		fmt.Fprintln(os.Stderr, "shop:", serveNames(names))
		os.Exit(1)
	}
	server := exec.Command(os.Args[0], "names", os.Args[2])
	err := server.Start()
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-ends
		_ = server.Process.Kill()
		os.Exit(0)
	}()
	if err == nil {
		err = serve(port, names)
	}
	fmt.Fprintln(os.Stderr, "shop:", err)
	os.Exit(1)
}
