package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/agent"
	"culprit/internal/knob"
	"culprit/internal/record"
)

// agentOptions is what may be typed for agent.
type agentOptions struct {
	agent.Options
	keep, cost string
	labels     []string
}

// agentFolder is where windows are kept unless somebody says otherwise.
func agentFolder() string { return filepath.Join(knob.StateDir(), "agent") }

func agentVerb(w world) *cobra.Command {
	var o agentOptions
	command := &cobra.Command{
		Use:   "agent",
		Short: "Record this host for ever, in windows, under a budget",
		Long: `Records a light window of the whole host every minute (stacks on the CPU at 19 Hz, each thread's
time off it, numbers of the host and its cgroups, settings) and a full one every so often, for as
long as it runs. It measures what that costs, states it in each window, and keeps to --cost: it
lowers its rate, then leaves windows out, and says so. Windows stay on disk under --keep, the
oldest go first; compare and explain take them by the name of a service and a time:

  culprit compare agent:web@03:00..03:10 agent:web@yesterday

With --hub it also sends them to a hub, again until that acknowledges them.`,
		Example: `  culprit agent --dir windows --every 1s & sleep 6; kill $!; wait $!
  culprit agent status --dir windows`,
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAgent(cmd.Context(), w, o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Folder, "dir", "", "folder for the windows (default: agent in $CULPRIT_STATE or /var/lib/culprit)")
	flags.DurationVar(&o.Every, "every", time.Minute, "length of a light window")
	flags.DurationVar(&o.Full, "full", time.Hour, "how often there is a full window; 0: when a service leaves its band")
	flags.DurationVar(&o.FullFor, "full-for", 10*time.Second, "length of a full window")
	flags.StringVar(&o.cost, "cost", "0.5%", "what recording may take of the host's CPU time; 0: no limit")
	flags.StringVar(&o.keep, "keep", "2GiB", "what windows may take of the disk")
	flags.BoolVar(&o.Requests, "requests", false, "count the requests of services on their sockets")
	flags.StringVar(&o.Host, "host", "", "name of this host (default: its own)")
	flags.StringArrayVar(&o.labels, "label", nil, "label of this host, as key=value: zone=eu-1; may be given again")
	flags.StringVar(&o.LabelFile, "label-file", "", `file with a label a line: "zone=eu-1", "web: version=1.4.2"`)
	flags.StringVar(&o.Hub, "hub", "", "send windows to this hub, such as https://hub.example.org:8430")
	flags.StringVar(&o.TokenFile, "token-file", "", "file with the token for the hub, which only you can read")
	command.AddCommand(agentStatusVerb(w))
	return command
}

func runAgent(ctx context.Context, w world, o agentOptions) error {
	if err := o.resolve(); err != nil {
		return err
	}
	if err := record.Permitted(); err != nil {
		return err // the kernel's own words for it mislead
	}
	o.Program, o.Log = "culprit "+version, w.stderr
	o.Ready = func() {
		fmt.Fprintf(w.stdout, "recording a window every %v into %s\n", o.Every, o.Folder)
	}
	err := agent.Run(ctx, o.Options)
	if _, interrupted := interruption(ctx); interrupted && errors.Is(err, context.Canceled) {
		return nil // it was asked to end before it had begun
	}
	return err
}

// resolve turns what was typed into options.
func (o *agentOptions) resolve() (err error) {
	if o.Folder == "" {
		o.Folder = agentFolder()
	}
	if o.Folder, err = filepath.Abs(o.Folder); err != nil {
		return fmt.Errorf("find folder %s: %w", o.Folder, err)
	}
	if o.Keep, err = parseBytes("--keep", o.keep); err != nil {
		return err
	}
	if o.cost != "0" {
		if o.Cost, err = shareOf("--cost", o.cost); err != nil {
			return err
		}
	}
	if o.Labels, err = labelsOf(o.labels); err != nil {
		return err
	}
	if o.LabelFile != "" {
		if info, err := os.Stat(o.LabelFile); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("--label-file %s is no file that can be read", o.LabelFile)
		}
	}
	return nil
}

// labelsOf reads what --label says, each key=value; a later one of a key counts.
func labelsOf(texts []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range texts {
		key, value, err := agent.ParseLabel(text)
		if err != nil {
			return nil, err
		}
		labels[key] = value
	}
	return labels, nil
}

// shareOf reads "0.5%" as 0.005. A number without % is refused: 0.5 could be half of the host.
func shareOf(flag, text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !percent || !(value > 0 && value <= 50) {
		return 0, fmt.Errorf("%s %q: give a share of the host up to 50%% with its unit, such as 0.5%%, or 0 for no limit",
			flag, text)
	}
	return value / 100, nil
}

// byteUnits are those of parseBytes, the longer names first.
var byteUnits = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"TB", 1e12}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"B", 1}}

// parseBytes reads "2GiB", "500M" or a number of bytes.
func parseBytes(flag, text string) (int64, error) {
	number, unit := strings.TrimSpace(text), int64(1)
	for _, known := range byteUnits {
		if rest, found := strings.CutSuffix(number, known.name); found {
			number, unit = strings.TrimSpace(rest), known.bytes
			break
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || !(value > 0) || value*float64(unit) > 1<<60 {
		return 0, fmt.Errorf("%s %q: give a size such as 2GiB or 500MiB", flag, text)
	}
	return int64(value * float64(unit)), nil
}
