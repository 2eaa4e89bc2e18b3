package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"culprit/internal/knob"
	"culprit/internal/monitor"
	"culprit/internal/record"
)

// recorderVerb is the recorder's own process; see package record.
func recorderVerb(w world) *cobra.Command {
	return &cobra.Command{
		Use: record.Verb + " OPTIONS", Short: "The recorder's own process", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return record.Serve(cmd.Context(), args[0], w.stdin, w.stdout)
		},
	}
}

// guardianVerb is the process that puts a knob back when culprit is killed; see package knob.
func guardianVerb(world) *cobra.Command {
	return &cobra.Command{
		Use: "guardian", Short: "Puts a knob back when culprit is killed", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return knob.RunGuardian(args)
		},
	}
}

// monitoredVerb is one of the two processes for whom monitors are repeated; see package monitor.
func monitoredVerb(w world) *cobra.Command {
	return &cobra.Command{
		Use: monitor.Verb + " CPU", Short: "A process that monitors are repeated for", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cpu, err := strconv.Atoi(args[0])
			if err != nil || cpu < 0 {
				return fmt.Errorf("no CPU %q", args[0])
			}
			return monitor.Serve(cpu, w.stdin, w.stdout)
		},
	}
}
