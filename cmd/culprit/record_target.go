package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"culprit/internal/record"
)

// takeNamed finds what runs already and was named in the place of a command: port:8080, unit:NAME,
// pid:N or cgroup:DIR.
func (o *recordOptions) takeNamed() error {
	if len(o.words) == 0 {
		return nil
	}
	target, named, err := record.ParseTarget(o.words[0])
	switch {
	case err != nil || !named:
		return err
	case len(o.words) > 1:
		return fmt.Errorf("%s runs already and takes no words after it; give options such as -o before it", o.words[0])
	case o.WholeHost || o.target.Pid != 0 || o.target.Cgroup != "":
		return fmt.Errorf("give only one of: -p, --cgroup, -a, %s", o.words[0])
	}
	o.target, o.words = target, nil
	return nil
}

// resolveTarget finds what is to be recorded.
func (o *recordOptions) resolveTarget() error {
	if o.python {
		o.RunTimes = []string{"Python"}
	}
	switch {
	case o.WholeHost:
		o.target.Kind = "host"
	case o.target.Pid != 0:
		o.target.Kind = "pid"
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", o.target.Pid)); o.target.Pid < 0 || err != nil {
			return fmt.Errorf("no process %d; `ps` lists those that run", o.target.Pid)
		}
		o.RunTimes = record.WithRunTimes(o.RunTimes, record.RunTimesOf(o.target.Pid)...)
	case o.target.Cgroup != "":
		o.target.Kind = "cgroup"
		if _, err := os.Stat(filepath.Join(o.target.Cgroup, "cgroup.procs")); err != nil {
			return fmt.Errorf("%s is no cgroup; give a directory below /sys/fs/cgroup", o.target.Cgroup)
		}
	default:
		o.target.Kind, o.target.Command = "command", strings.Join(o.words, " ")
		if err := runnable(o.words[0]); err != nil {
			return err
		}
		o.RunTimes = record.WithRunTimes(o.RunTimes, record.RunTimeOfCommand(o.words))
	}
	return nil
}

// runnable refuses a command that cannot be started, before a recorder is loaded for it.
func runnable(command string) error {
	places := []string{""}
	if !strings.Contains(command, "/") {
		places = filepath.SplitList(os.Getenv("PATH"))
	}
	for _, place := range places {
		path := filepath.Join(place, command)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && unix.Access(path, unix.X_OK) == nil {
			return nil
		}
	}
	if places[0] == "" && len(places) == 1 {
		return fmt.Errorf("%s is not a program that can be run; check its name and mode", command)
	}
	return fmt.Errorf("no command %q on PATH; check its name, or give its whole path", command)
}
