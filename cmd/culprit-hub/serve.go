package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/fleet/hub"
)

// Times after which a client that reads or writes too slowly is left.
const (
	headerTime = 10 * time.Second
	bodyTime   = 2 * time.Minute
	answerTime = 3 * time.Minute
	idleTime   = time.Minute
	endTime    = 20 * time.Second
	// maxConnections are served at once; more wait in the kernel's queue.
	maxConnections = 2000
	retentionEvery = time.Hour
)

type serveFlags struct {
	directory, listen, certificate, key string
	keep                                int
}

func serveVerb() *cobra.Command {
	var f serveFlags
	command := &cobra.Command{Use: "serve", Short: "Take windows and answer questions until it is interrupted",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), f) }}
	flags := command.Flags()
	flags.StringVar(&f.directory, "store", "", "directory of the store (required)")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8430", "address")
	flags.StringVar(&f.certificate, "tls-cert", "", "certificate chain, PEM")
	flags.StringVar(&f.key, "tls-key", "", "its key, PEM")
	flags.IntVar(&f.keep, "keep-days", 30, "days that windows are kept")
	command.MarkFlagRequired("store")
	return command
}

func serve(ctx context.Context, f serveFlags) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	tokens, err := hub.ReadTokens(f.directory)
	if err != nil {
		return err
	}
	if len(tokens) == 0 {
		return fmt.Errorf("%s has no tokens: 'culprit-hub token --store %s --tenant NAME --scope write' makes one",
			f.directory, f.directory)
	}
	if (f.certificate == "") != (f.key == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	if f.certificate == "" && !isLoopback(f.listen) {
		return fmt.Errorf("--listen %s without TLS would send tokens in the clear: give --tls-cert and --tls-key", f.listen)
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	h := hub.New(f.directory, tokens, openDuck, log)
	for _, token := range tokens { // what a crash left is taken up before agents come
		if _, err := h.Store(ctx, token.Tenant); err != nil {
			listener.Close()
			return err
		}
	}
	server := &http.Server{Handler: h.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime,
		WriteTimeout: answerTime, IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	go forgetOften(ctx, h, tokens, f.keep, log)
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		server.Shutdown(ending)
	}()
	log.Info("listening", "address", listener.Addr().String(), "tls", f.certificate != "", "store", f.directory)
	limited := &limitedListener{Listener: listener, places: make(chan struct{}, maxConnections)}
	if f.certificate != "" {
		err = server.ServeTLS(limited, f.certificate, f.key)
	} else {
		err = server.Serve(limited)
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, h.Close())
}

func isLoopback(address string) bool {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// forgetOften throws away what is older than the days to keep.
func forgetOften(ctx context.Context, h *hub.Hub, tokens []hub.Token, days int, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(retentionEvery):
		}
		for _, token := range tokens {
			s, err := h.Store(ctx, token.Tenant)
			if err == nil {
				err = s.Forget(ctx, time.Now().AddDate(0, 0, -days))
			}
			if err != nil {
				log.Error("old windows could not be thrown away", "tenant", token.Tenant, "error", err)
			}
		}
	}
}

// limitedListener has so many connections open at once.
type limitedListener struct {
	net.Listener
	places chan struct{}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	l.places <- struct{}{}
	connection, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &limitedConn{Conn: connection, leave: func() { <-l.places }}, nil
}

type limitedConn struct {
	net.Conn
	leave func()
	ended sync.Once
}

func (c *limitedConn) Close() error {
	c.ended.Do(c.leave)
	return c.Conn.Close()
}
