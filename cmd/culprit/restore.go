package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"culprit/internal/knob"
)

// restoreSchema names the JSON document that restore writes.
const restoreSchema = "culprit.restore/1"

// restored is that document.
type restored struct {
	Schema   string          `json:"schema"`
	Journal  string          `json:"state_dir"`
	Settings []knob.Restored `json:"settings"`
	Error    string          `json:"error,omitempty"` // what could not be restored
}

func restoreVerb(w world) *cobra.Command {
	var json string
	command := &cobra.Command{
		Use:   "restore",
		Short: "Put back any setting that a killed run left changed",
		Long: `Reads the journal in which every change of a setting is written down before it is made
($CULPRIT_STATE, or /var/lib/culprit) and puts back what a killed run left changed. What a
running culprit holds is left to it. What somebody else has changed since is left as it is.

Exit status: 0 everything is as it was, 2 something could not be put back.`,
		Example: `  culprit restore
  culprit restore --json -`,
		Args: noWords,
		RunE: func(_ *cobra.Command, _ []string) error {
			if json != "" && json != "-" {
				if err := checkOutput(json, true); err != nil {
					return err
				}
			}
			return runRestore(w, json)
		},
	}
	command.Flags().StringVar(&json, "json", "", "write what was done as JSON to this file, - for standard output")
	return command
}

func runRestore(w world, json string) error {
	stateDir := knob.StateDir()
	settings, failed := knob.Restore(stateDir)
	if json != "-" {
		if err := printRestored(w, settings, failed); err != nil {
			return err
		}
	}
	if json != "" {
		document := restored{Schema: restoreSchema, Journal: stateDir, Settings: settings}
		if settings == nil {
			document.Settings = []knob.Restored{}
		}
		if failed != nil {
			document.Error = failed.Error()
		}
		if err := writeJSON(w, json, document); err != nil {
			return err
		}
	}
	return failed
}

func printRestored(w world, settings []knob.Restored, failed error) error {
	t := &table{}
	for _, setting := range settings {
		text := fmt.Sprintf("%-9s %s: ", setting.Action, setting.Knob)
		switch setting.Action {
		case knob.PutBack:
			text += fmt.Sprintf("%s → %s (%s)", setting.From, setting.To, setting.Path)
		case knob.Already:
			text += fmt.Sprintf("is %s, as it was (%s)", setting.To, setting.Path)
		case knob.Drifted:
			text += fmt.Sprintf("left at %s", setting.From)
		}
		fmt.Fprintln(&t.out, plainText(text))
		if setting.Note != "" {
			t.note("", setting.Note)
		}
	}
	if len(settings) == 0 && failed == nil {
		fmt.Fprintln(&t.out, "nothing to restore: no setting was left changed")
	}
	if _, err := w.stdout.Write(t.out.Bytes()); err != nil {
		return fmt.Errorf("write what was restored: %w", err)
	}
	return nil
}
