package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/fleet/hub"
)

// Times after which a client that reads or writes too slowly is left.
const (
	headerTime = 10 * time.Second
	bodyTime   = 2 * time.Minute
	answerTime = 3 * time.Minute
	idleTime   = 90 * time.Second // agents come once a minute
	endTime    = 20 * time.Second
	// maxConnections are open at once: those of 10,000 agents, with room for hosts that say
	// nothing.
	maxConnections = 16000
	retentionEvery = time.Hour
)

type serveFlags struct {
	directory, listen, certificate, key, dsn string
	keep                                     int
	limits                                   hub.Limits
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
	engineFlag(command, &f.dsn)
	flags.IntVar(&f.keep, "keep-days", 30, "days that windows are kept")
	flags.Float64Var(&f.limits.Windows, "windows-per-second", 500,
		"that agents may send with one token; 60 times that at once")
	flags.Float64Var(&f.limits.Questions, "questions-per-second", 5, "that may be asked with one token")
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
	open, err := engine(f.dsn)
	if err != nil {
		return err
	}
	h, err := hub.New(f.directory, open, f.limits, log)
	if err != nil {
		return err
	}
	for _, tenant := range h.Tenants() { // what a crash left is taken up before agents come
		if _, err := h.Store(ctx, tenant); err != nil {
			return errors.Join(err, h.Close())
		}
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), h.Close())
	}
	server := &http.Server{Handler: h.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime,
		WriteTimeout: answerTime, IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	go forgetOften(ctx, h, f.keep, log)
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		server.Shutdown(ending)
	}()
	log.Info("listening", "address", listener.Addr().String(), "tls", f.certificate != "", "store", f.directory)
	server.ConnState = newIdlest(maxConnections).state
	if f.certificate != "" {
		err = server.ServeTLS(listener, f.certificate, f.key)
	} else {
		err = server.Serve(listener)
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
func forgetOften(ctx context.Context, h *hub.Hub, days int, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(retentionEvery):
		}
		for _, tenant := range h.Tenants() {
			s, err := h.Store(ctx, tenant)
			if err == nil {
				err = s.Forget(ctx, time.Now().AddDate(0, 0, -days))
			}
			if err != nil {
				log.Error("old windows could not be thrown away", "tenant", tenant, "error", err)
			}
		}
	}
}
