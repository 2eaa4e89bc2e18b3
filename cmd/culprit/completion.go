package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// completions are the words that a flag takes, the same for every verb that has it.
func completions() map[string][]cobra.Completion {
	return map[string][]cobra.Completion{
		"metric": {"auto\twhichever changes more", "wall\tfrom start to end", "cpu\tuser and system time of all processes"},
		"prove": {"ask\tbefore a setting of this host is flipped", "auto\tflip it, and put it back",
			"none\tflip nothing"},
		"as": {"folded\tfor flamegraph.pl and inferno", "pprof\tfor go tool pprof", "speedscope\tfor speedscope.app",
			"otlp\tfor OpenTelemetry", "firefox\tfor profiler.firefox.com", "perfetto\tfor ui.perfetto.dev"},
		"format": {"auto\ttold by content", "perfscript", "folded", "pprof", "strace", "cpuprofile", "otlp",
			"bpftrace", "jfr"},
		"design": {"blocks\tall levels in each block", "one\tone factor after the other", "factorial\tall combinations",
			"switchback\ton a running service"},
		"order":   {"first-parent\talong the main line: a merge is one step", "topological\tevery commit between the ends"},
		"package": {"pypi:\tNAME", "npm:\tNAME", "go:\tPATH", "maven:\tGROUP:ARTIFACT", "crate:\tNAME"},
		"per": {"auto\twhat both sides share", "run\tone recording", "second\tof the window",
			"cpu-second\tparts of the profile", "request=\tso many requests, or as many as a system call counted"},
		"signal": {"cpu\ttime on the CPU", "offcpu\ttime off it"},
	}
}

// offerCompletions lets the shell complete the values of flags.
func offerCompletions(root *cobra.Command) error {
	for _, verb := range root.Commands() {
		for name, words := range completions() {
			if verb.Flags().Lookup(name) == nil {
				continue
			}
			offer := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
			if err := verb.RegisterFlagCompletionFunc(name, offer); err != nil {
				return fmt.Errorf("offer completion of %s --%s: %w", verb.Name(), name, err)
			}
		}
	}
	return nil
}
