package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"culprit/internal/serve"
)

func serveVerb(w world) *cobra.Command {
	var o serve.Options
	var fleet hubFlags
	command := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Cases and recordings of a directory in a browser, live",
		Long: `Serves the cases, experiments and recordings below DIR (the current folder where none is given):
lists them, shows their pages, compares any two groups of recordings, takes in files of other
tools, and starts recordings and investigations with live progress. What these make lands in DIR.

On a loopback address only the user who runs it, and root, are let in. Any other address demands
--token-file, and a certificate or a stated --insecure. Who is let in can run commands as the user
who runs it: --read-only leaves that out.

With --hub or --store it also asks the windows of many hosts, as 'culprit fleet' does.`,
		Example: `  culprit serve . --read-only --listen localhost:0 & sleep 3; kill $!; wait $!`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("serve one directory at a time, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = "."
			if len(args) > 0 {
				o.Dir = args[0]
			}
			return runServe(cmd.Context(), w, o, fleet)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8717", "address and port; port 0 is any that is free")
	flags.StringVar(&o.TokenFile, "token-file", "", "let in who has the token in this file, which only you can read")
	flags.StringVar(&o.TLSCert, "tls-cert", "", "certificate of the server, in PEM")
	flags.StringVar(&o.TLSKey, "tls-key", "", "key of the certificate, in PEM")
	flags.BoolVar(&o.Insecure, "insecure", false, "let the token go over a network without TLS")
	flags.BoolVar(&o.ReadOnly, "read-only", false, "only show and compare: record, run and take in nothing")
	fleet.define(flags, "hub-token-file")
	flags.StringArrayVar(&o.Hosts, "host", nil, "name by which browsers may call the server, beside its addresses")
	return command
}

func runServe(ctx context.Context, w world, o serve.Options, fleet hubFlags) error {
	o.Program = "/proc/self/exe"
	var err error
	if o.Fleet, err = fleet.served(); err != nil {
		return err
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return fmt.Errorf("find directory %s: %w", o.Dir, err)
	}
	o.Ready = func(address string) {
		fmt.Fprintf(w.stdout, "%s shows %s\n", address, o.Dir)
		if os.Geteuid() != 0 && !o.ReadOnly {
			fmt.Fprintln(w.stderr, "culprit: recording needs root: what this server starts runs as you")
		}
	}
	return serve.Run(ctx, o)
}
