// Command culprit-hub takes the windows of a fleet's agents and answers questions over them. It is
// a binary and a module of its own because DuckDB, its embedded store, needs cgo; culprit itself
// stays one static binary.
//
//	culprit-hub token --store /var/lib/culprit-hub --tenant web --scope write
//	culprit-hub serve --store /var/lib/culprit-hub --listen 127.0.0.1:8430
//
// It refuses to listen without TLS anywhere but on loopback. Exit status: 0 done, 2 error.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the Makefile from git.
var version = "devel"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "culprit-hub: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(2)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "culprit-hub", Short: "Takes the windows of a fleet and answers questions over them",
		Version: version, SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(serveVerb(), tokenVerb(), askVerb(), addVerb(), forgetVerb(), fillVerb())
	return root
}
