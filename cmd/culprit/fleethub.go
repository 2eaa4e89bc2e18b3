package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"culprit/internal/fleet/client"
)

// hubFlags say where the windows of a fleet are.
type hubFlags struct {
	client.Where
	tokenFile string
	tokenFlag string // how the flag for it is called
}

func (f *hubFlags) define(flags *pflag.FlagSet, tokenFlag string) {
	flags.StringVar(&f.Store, "store", "", "directory of a store of culprit-hub, or clickhouse://… of its cluster")
	flags.StringVar(&f.Tenant, "tenant", "", "whose windows in --store (default \"default\")")
	f.defineHub(flags, tokenFlag, "file with a token of the hub that may read")
}

// defineHub is for what only a hub has.
func (f *hubFlags) defineHub(flags *pflag.FlagSet, tokenFlag, token string) {
	f.tokenFlag = tokenFlag
	flags.StringVar(&f.Hub, "hub", "", "address of a hub: https://hub.example:8430")
	flags.StringVar(&f.tokenFile, tokenFlag, "", token)
}

// served is the same for a server that asks on behalf of pages; the zero value where no flag is
// given.
func (f *hubFlags) served() (client.Where, error) {
	if f.Where == (client.Where{}) && f.tokenFile == "" {
		return f.Where, nil
	}
	if f.Hub == "" && f.Store == "" {
		return f.Where, fmt.Errorf("--tenant and --%s are for a fleet; give --hub URL or --store DIR", f.tokenFlag)
	}
	if err := f.Check(); err != nil {
		return f.Where, err
	}
	if f.IsDirectory() {
		path, err := filepath.Abs(f.Store)
		if err != nil {
			return f.Where, fmt.Errorf("find store %s: %w", f.Store, err)
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return f.Where, fmt.Errorf("--store %s is no directory; 'culprit-hub serve --store DIR' makes one", f.Store)
		}
		f.Store = path
	}
	err := f.readToken()
	return f.Where, err
}

// hubTokenMax is longer than any token that a hub gives out.
const hubTokenMax = 256

// readToken reads the token of a hub, which is one word.
func (f *hubFlags) readToken() error {
	switch {
	case f.tokenFile == "" && f.Hub == "":
		return nil
	case f.tokenFile == "":
		return fmt.Errorf("--hub needs --%s: 'culprit-hub token --scope read' makes one", f.tokenFlag)
	case f.Hub == "":
		return fmt.Errorf("--%s is for a hub; give --hub URL", f.tokenFlag)
	}
	file, err := os.Open(f.tokenFile)
	if err != nil {
		return fmt.Errorf("read token: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, hubTokenMax+2))
	if err != nil {
		return fmt.Errorf("read token: %w", err)
	}
	f.Token = strings.TrimSpace(string(text))
	odd := strings.ContainsFunc(f.Token, func(r rune) bool { return r <= ' ' || r > '~' })
	if f.Token == "" || odd || len(f.Token) > hubTokenMax {
		return errors.New("read token: " + f.tokenFile + " does not hold one token, a word of letters and digits; " +
			"'culprit-hub token --scope read' makes one")
	}
	return nil
}
