package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"culprit/cmd/culprit-hub/clickhouse"
	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/hub"
	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
)

// place is which store a verb works on.
type place struct{ directory, tenant, dsn string }

func (p *place) flags(command *cobra.Command) {
	command.Flags().StringVar(&p.directory, "store", "", "directory of the store (required)")
	command.Flags().StringVar(&p.tenant, "tenant", "default", "whose windows")
	command.MarkFlagRequired("store")
}

// flagsToAsk are those of a verb that does without the directory where a DSN says where the rows
// are.
func (p *place) flagsToAsk(command *cobra.Command) {
	command.Flags().StringVar(&p.directory, "store", "",
		"directory of the store; without it the rows of the DSN are asked, beside the hub that fills them")
	command.Flags().StringVar(&p.tenant, "tenant", "default", "whose windows")
	engineFlag(command, &p.dsn)
}

// engineFlag says where the rows are.
func engineFlag(command *cobra.Command, dsn *string) {
	command.Flags().StringVar(dsn, "dsn", "", "clickhouse://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?cluster=NAME: "+
		"rows go there instead of into DuckDB (default $"+dsnVariable+", which other users do not see)")
}

const dsnVariable = "CULPRIT_HUB_DSN"

// engine opens DuckDB, or the cluster of a DSN.
func engine(dsn string) (hub.Open, error) {
	if dsn == "" {
		dsn = os.Getenv(dsnVariable)
	}
	if dsn == "" {
		return openDuck, nil
	}
	address, err := clickhouse.Parse(dsn)
	if err != nil {
		return nil, err
	}
	return address.Open, nil
}

// opens gives a verb the flags of a store and has it work on that store.
func (p *place) opens(command *cobra.Command, work func(cmd *cobra.Command, s *store.Store, paths []string) error) {
	p.flags(command)
	engineFlag(command, &p.dsn)
	command.RunE = func(cmd *cobra.Command, paths []string) error {
		s, err := p.open(cmd)
		if err != nil {
			return err
		}
		defer s.Close()
		return work(cmd, s, paths)
	}
}

func (p *place) open(cmd *cobra.Command) (*store.Store, error) {
	if !hub.IsTenant(p.tenant) {
		return nil, fmt.Errorf("tenant %q: small letters, digits, - and _, at most 63", p.tenant)
	}
	directory := hub.TenantDirectory(p.directory, p.tenant)
	open, err := engine(p.dsn)
	if err != nil {
		return nil, err
	}
	rows, err := open(cmd.Context(), directory, p.tenant)
	if err != nil {
		return nil, err
	}
	return store.Open(cmd.Context(), directory, rows, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
}

func tokenVerb() *cobra.Command {
	var p place
	var scope, note string
	command := &cobra.Command{Use: "token", Short: "Make a token and print it, once", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			secret, err := hub.AddToken(p.directory, p.tenant, scope, note)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), secret)
			}
			return err
		}}
	p.flags(command)
	command.Flags().StringVar(&scope, "scope", "", "write (agents), read (questions) or baseline (culprit ci) (required)")
	command.Flags().StringVar(&note, "note", "", "what it is for")
	command.MarkFlagRequired("scope")
	return command
}

func askVerb() *cobra.Command {
	var p place
	var lines bool
	command := &cobra.Command{Use: "ask", Short: "Answer the question on standard input, JSON to JSON",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var request ask.Request
			if err := json.NewDecoder(io.LimitReader(cmd.InOrStdin(), 64<<10)).Decode(&request); err != nil {
				return fmt.Errorf("read question: %w", err)
			}
			s, err := p.openToAsk(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			out := json.NewEncoder(cmd.OutOrStdout())
			answer, err := ask.Telling(cmd.Context(), s, request, func(stage string) {
				if lines {
					_ = out.Encode(ask.Line{Stage: stage}) // the answer tells whether anybody reads
				}
			})
			if err != nil {
				return err
			}
			if lines {
				return out.Encode(ask.Line{Answer: answer})
			}
			return out.Encode(answer)
		}}
	p.flagsToAsk(command)
	command.Flags().BoolVar(&lines, "lines", false, "tell what is being done, a line each, and then the answer in one")
	return command
}

// openToAsk opens the store, or without a directory the rows of a cluster alone.
func (p *place) openToAsk(cmd *cobra.Command) (*store.Store, error) {
	if p.directory != "" {
		if _, err := os.Stat(hub.TenantDirectory(p.directory, p.tenant)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is no store of tenant %s; 'culprit-hub add' or 'culprit-hub serve' makes one",
				p.directory, p.tenant)
		}
		return p.open(cmd)
	}
	dsn := cmp.Or(p.dsn, os.Getenv(dsnVariable))
	if dsn == "" {
		return nil, errors.New("say where the rows are: --store DIR, or --dsn clickhouse://…")
	}
	if !hub.IsTenant(p.tenant) {
		return nil, fmt.Errorf("tenant %q: small letters, digits, - and _, at most 63", p.tenant)
	}
	address, err := clickhouse.Parse(dsn)
	if err != nil {
		return nil, err
	}
	rows, err := address.OpenToRead(cmd.Context(), p.tenant)
	if err != nil {
		return nil, err
	}
	return store.OpenToRead(rows), nil
}

func addVerb() *cobra.Command {
	var p place
	command := &cobra.Command{Use: "add PATH…",
		Short: "Put windows into a store: files X.culprit with X.window.json beside",
		Args:  cobra.MinimumNArgs(1)}
	p.opens(command, addAll)
	return command
}

func addAll(cmd *cobra.Command, s *store.Store, paths []string) error {
	files, err := recordings(paths)
	if err != nil {
		return err
	}
	var added, there atomic.Int64
	start := time.Now()
	failures := inParallel(files, func(file string) error {
		known, err := addOne(cmd.Context(), s, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if known {
			there.Add(1)
		} else {
			added.Add(1)
		}
		return nil
	})
	fmt.Fprintf(cmd.OutOrStdout(), "%d windows added, %d were there, %d refused, in %.1f s\n",
		added.Load(), there.Load(), len(failures), time.Since(start).Seconds())
	if len(failures) > 0 {
		return failures[0]
	}
	return nil
}

func addOne(ctx context.Context, s *store.Store, file string) (known bool, err error) {
	manifest, err := os.Open(strings.TrimSuffix(file, window.RecordingSuffix) + window.ManifestSuffix)
	if err != nil {
		return false, err
	}
	defer manifest.Close()
	w, err := window.ReadManifest(manifest)
	if err != nil {
		return false, err
	}
	recording, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer recording.Close()
	body, _, err := w.Body(recording)
	if err != nil {
		return false, err
	}
	_, known, err = s.Take(ctx, body, w.Content)
	return known, err
}

// recordings are the files of all paths, those below directories too.
func recordings(paths []string) (files []string, err error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(file, window.RecordingSuffix) {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, errors.New("no files X.culprit in what was given")
	}
	return files, nil
}

func forgetVerb() *cobra.Command {
	var p place
	var days int
	command := &cobra.Command{Use: "forget", Short: "Throw away windows that are older than so many days",
		Args: cobra.NoArgs}
	p.opens(command, func(cmd *cobra.Command, s *store.Store, _ []string) error {
		return s.Forget(cmd.Context(), time.Now().AddDate(0, 0, -days))
	})
	command.Flags().IntVar(&days, "keep-days", 30, "days to keep")
	return command
}

func fillVerb() *cobra.Command {
	var p place
	command := &cobra.Command{Use: "fill", Args: cobra.NoArgs,
		Short: "Write rows anew of windows whose files are kept: those of a shard that lost them, or of a new engine"}
	p.opens(command, func(cmd *cobra.Command, s *store.Store, _ []string) error {
		filled, err := s.Fill(cmd.Context())
		fmt.Fprintf(cmd.OutOrStdout(), "%d windows had no rows and have them now\n", filled)
		return err
	})
	return command
}
