package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"culprit/internal/investigate"
)

// news tells a program that watches what is being done, in lines of JSON: serve reads them. The nil
// news tells nobody.
type news struct {
	out io.Writer
}

// newsFlag adds the flag for it, which is for programs alone.
func newsFlag(flags *pflag.FlagSet, descriptor *int) {
	flags.IntVar(descriptor, "progress-fd", 0, "write progress as lines of JSON to this open descriptor")
	if err := flags.MarkHidden("progress-fd"); err != nil {
		panic(err) // the flag was added in the line before
	}
}

// openNews takes over a descriptor that is open already; 0 is none.
func openNews(descriptor int) (*news, error) {
	if descriptor == 0 {
		return nil, nil
	}
	if _, err := unix.FcntlInt(uintptr(descriptor), unix.F_GETFD, 0); err != nil || descriptor < 3 {
		return nil, fmt.Errorf("--progress-fd %d is no open descriptor above 2", descriptor)
	}
	unix.CloseOnExec(descriptor) // commands of trials must not write there
	return &news{out: os.NewFile(uintptr(descriptor), "progress")}, nil
}

// tell writes one line. Who watches may have gone: the work goes on.
func (n *news) tell(line any) {
	if n == nil {
		return
	}
	if text, err := json.Marshal(line); err == nil {
		_, _ = n.out.Write(append(text, '\n'))
	}
}

// stage says what is being done now.
func (n *news) stage(text string) { n.tell(map[string]any{"stage": text}) }

// expects says how long it takes in all, as far as that is known.
func (n *news) expects(budget time.Duration) { n.tell(map[string]any{"budget_s": budget.Seconds()}) }

// newsEstimate is what the trials say by now.
type newsEstimate struct {
	Metric  string              `json:"metric"`
	Outcome investigate.Outcome `json:"outcome"`
	Ratio   float64             `json:"ratio"`
	Low     float64             `json:"low"`
	High    float64             `json:"high"`
	Pairs   int                 `json:"pairs"`
}

// newsSuspect is one suspect by now.
type newsSuspect struct {
	Cause string  `json:"cause"`
	Level string  `json:"level"`
	Share float64 `json:"share"`
}

// found tells the estimate, and the suspects where there are some.
func (n *news) found(c *investigate.Case, pairs int) {
	if n == nil {
		return
	}
	line := map[string]any{}
	if e := c.Effect; e != nil {
		line["estimate"] = newsEstimate{c.Metric.Name, c.Outcome, e.Ratio, e.Low, e.High, pairs}
	}
	suspects := []newsSuspect{}
	for _, s := range c.Suspects {
		suspects = append(suspects, newsSuspect{string(s.Cause), string(s.Level), s.Share.Value})
	}
	if len(suspects) > 0 {
		line["suspects"] = suspects
	}
	n.tell(line)
}
