package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"culprit/internal/agent"
)

func agentStatusVerb(w world) *cobra.Command {
	var folder, json string
	command := &cobra.Command{
		Use:   "status",
		Short: "What the agent of this host has recorded, what that costs, and what goes wrong",
		Args:  noWords,
		RunE: func(*cobra.Command, []string) error {
			if folder == "" {
				folder = agentFolder()
			}
			status, err := agent.ReadStatus(folder)
			if err != nil {
				return err
			}
			if json != "-" {
				printStatus(w, status)
			}
			if json == "" {
				return nil
			}
			return writeJSON(w, json, status)
		},
	}
	command.Flags().StringVar(&folder, "dir", "", "folder of the windows")
	command.Flags().StringVar(&json, "json", "", "write the same as JSON to this file, - for standard output")
	return command
}

const statusTime = "2006-01-02 15:04:05Z07:00"

func printStatus(w world, s *agent.Status) {
	line := func(label, format string, values ...any) {
		fmt.Fprintf(w.stdout, "%-9s %s\n", label, fmt.Sprintf(format, values...))
	}
	if s.Running {
		line("agent", "runs as process %d on %s since %s (%s)", s.Pid, s.Host, s.Started.Format(statusTime), s.Program)
	} else {
		line("agent", "does not run; the last one was process %d on %s, until %s", s.Pid, s.Host,
			s.Written.Format(statusTime))
	}
	line("windows", "%d of %v in %s of %s (%s)", s.Windows, time.Duration(s.EveryNs), inBytes(s.Bytes), inBytes(s.Keep),
		s.Folder)
	if s.Windows > 0 {
		line("", "from %s to %s", s.Oldest.Format(statusTime), s.Newest.Format(statusTime))
	}
	budget := "no limit"
	if s.BudgetShare > 0 {
		budget = fmt.Sprintf("%.2g %% are allowed", 100*s.BudgetShare)
	}
	line("cost", "%.2f %% of the host's CPU time since the start, %.2f %% in the last window; %s", 100*s.Cost.Share,
		100*s.LastCost.Share, budget)
	line("", "%s of memory; %d samples a second; %d windows left out to keep to the budget", inBytes(s.MemoryBytes), s.Hz,
		s.Skipped)
	if s.Hub != "" {
		line("hub", "%s: %d windows to be sent, %d refused, %s", s.Hub, s.Unsent, s.Refused, lastSent(s))
	}
	if s.Dropped > 0 {
		line("lost", "%s that could not be recorded or kept, from %s to %s", counted(s.Dropped, "window"),
			s.DroppedFrom.Format(statusTime), s.DroppedTo.Format(statusTime))
	}
	for _, count := range []struct {
		number      int64
		what, words string
	}{{s.Torn, "file", "that could not be read, set aside"}, {s.Deaths, "recorder", "that ended unasked"},
		{s.Adopted, "window", "that a killed agent had left"}} {
		if count.number > 0 {
			line("", "%s %s", counted(count.number, count.what), count.words)
		}
	}
	if len(s.Services) > 0 {
		line("services", "%s", strings.Join(s.Services, ", "))
	}
	for _, trouble := range s.Troubles {
		line("trouble", "%s", trouble)
	}
}

// counted is a number with its noun, of one or of many.
func counted(number int64, what string) string {
	if number != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", number, what)
}

func lastSent(s *agent.Status) string {
	if s.LastSent.IsZero() {
		return "none taken since the start"
	}
	return "the last taken at " + s.LastSent.Format(statusTime)
}

// inBytes writes a number of bytes with its unit.
func inBytes(bytes int64) string {
	value, unit := float64(bytes), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}
