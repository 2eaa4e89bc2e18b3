package comparability

import (
	"strings"
	"testing"

	"culprit/recording"
)

func TestProgramsThatFail(t *testing.T) {
	run := func(codes ...int32) *recording.Recording {
		rec := &recording.Recording{Manifest: recording.Manifest{Target: recording.Target{Kind: "command"}}}
		for i, code := range codes {
			rec.Processes = append(rec.Processes, recording.Process{Pid: int32(i + 1), EndNs: 1, ExitCode: code,
				Command: []string{"/usr/bin/sort", "/usr/bin/head"}[i%2]})
		}
		return rec
	}
	group := func(recordings ...*recording.Recording) []*recording.Recording { return recordings }
	outlives := run(2)
	outlives.Processes[0].EndNs = 0
	host := run(2, 0)
	host.Manifest.Target.Kind = "host"
	for name, c := range map[string]struct {
		a, b []*recording.Recording
		says string
	}{
		"in each of B": {group(run(0, 0), run(0, 0)), group(run(2, 0), run(2, 0)),
			"sort ended with exit status 2 in each recorded run of B"},
		"in each of A": {group(run(0, -11)), group(run(0, 0)),
			"head was killed by signal 11 (segmentation fault) in each recorded run of A"},
		"in some of B":           {group(run(0, 0)), group(run(2, 0), run(0, 0)), ""},
		"in one of A as well":    {group(run(1, 0), run(0, 0)), group(run(2, 0), run(2, 0)), ""},
		"its reader went away":   {group(run(0, 0)), group(run(-13, 0)), ""},
		"was stopped":            {group(run(0, 0)), group(run(-15, 0)), ""},
		"it outlived the window": {group(run(0, 0)), group(outlives), ""},
		"of the whole host":      {group(run(0, 0)), group(host), ""},
		"one side alone":         {group(run(2, 0)), nil, ""},
	} {
		got := strings.Join(Failed(c.a, c.b), "\n")
		if !strings.HasPrefix(got, c.says) || c.says == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}
