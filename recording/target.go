package recording

import "fmt"

// Target is what was recorded.
type Target struct {
	Kind    string `json:"kind"` // "command", "pid", "cgroup" or "host"
	Command string `json:"command,omitempty"`
	Pid     int    `json:"pid,omitempty"`
	Cgroup  string `json:"cgroup,omitempty"`
}

// Words say what was recorded: the command itself, or "process 4711".
func (t Target) Words() string {
	switch {
	case t.Command != "":
		return t.Command
	case t.Cgroup != "":
		return "cgroup " + t.Cgroup
	case t.Pid > 0:
		return fmt.Sprintf("process %d", t.Pid)
	}
	return "the whole host"
}
