package main

import (
	"github.com/spf13/cobra"

	"culprit/internal/knob"
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
