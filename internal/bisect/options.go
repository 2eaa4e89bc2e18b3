// Package bisect finds the commit, or the published version of a package, that made a command
// slower.
//
// It goes from top to bottom: a source lists the candidates between a good and a bad end and builds
// them in folders of its own; the engine asks trials, of the candidate and both ends in random
// order in blocks; package search says what they come to and which candidate is next. The method is
// a noisy binary search over step functions: see package search and docs/decisions. Every build and
// run is on disk before the next begins, so that a search goes on after a kill.
//
//	result, err := bisect.Run(ctx, bisect.Options{Good: "v1.4", Bad: "v1.9", Build: "make", Command: "./bench", …})
//
// It refuses revisions that git does not know, a good end that is no ancestor of the bad one, ends
// that cannot be built, and names that no registry has. It never touches the working tree or the
// git directory of the user.
package bisect

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"culprit/internal/investigate"
	"culprit/internal/stat"
	"culprit/internal/trial"
)

// The two orders of commits.
const (
	FirstParent = "first-parent"
	Topological = "topological"
)

// Options are what a user asks for, resolved. What is in JSON is kept in the case directory, to go
// on from.
type Options struct {
	Schema      string        `json:"schema"`
	Program     string        `json:"program"`
	Good        string        `json:"good"` // as typed
	Bad         string        `json:"bad"`
	Repo        string        `json:"repo,omitempty"`    // a folder in the repository
	Order       string        `json:"order,omitempty"`   // FirstParent, Topological, or "" for what fits
	Package     string        `json:"package,omitempty"` // pypi:NAME …; "" for commits
	Versions    []string      `json:"versions,omitempty"`
	Pre         bool          `json:"pre,omitempty"` // also versions before a release
	Build       string        `json:"build,omitempty"`
	Install     string        `json:"install,omitempty"`
	Command     string        `json:"command"`
	Words       []string      `json:"words,omitempty"` // the command where it came as words
	Folder      string        `json:"folder"`          // the user's own, in which packages are run
	MetricText  string        `json:"metric"`
	Smallest    float64       `json:"smallest"`
	Trials      int           `json:"trials"` // most blocks of one comparison
	Seed        int64         `json:"seed"`
	Timeout     time.Duration `json:"timeout_ns"`       // of one run
	BuildLimit  time.Duration `json:"build_timeout_ns"` // of one build
	Cache       string        `json:"cache"`
	Keep        bool          `json:"keep,omitempty"`
	Investigate bool          `json:"investigate"`
	Candidates  []Candidate   `json:"candidates"` // filled in by Run
	Linear      string        `json:"linear,omitempty"`

	Metrics []Metric `json:"metrics"`
	// Case is the directory to make, or with Resume the one to go on with.
	Case   string `json:"-"`
	Resume bool   `json:"-"`

	Printed *trial.Printed `json:"-"`
	// Progress is told what is being done, Listed how many steps lie between the ends and in which
	// order, before anything is built, and Estimated what the search will take, as soon as the ends
	// tell.
	Progress  func(string)                                `json:"-"`
	Listed    func(steps int, order string)               `json:"-"`
	Estimated func(Estimate)                              `json:"-"`
	Write     func(dir string, c *investigate.Case) error `json:"-"`
}

const optionsSchema = "culprit.bisect-design/1"

// nameOf is what messages call a candidate.
func (o Options) nameOf(position, last int) string {
	switch {
	case position == 0:
		return "the good end " + o.Good
	case position == last:
		return "the bad end " + o.Bad
	case position < len(o.Candidates):
		return o.Candidates[position].short()
	}
	return fmt.Sprint("candidate ", position)
}

// settle makes of what was typed what is used.
func (o *Options) settle() error {
	metric, err := investigate.ParseMetric(o.MetricText)
	if err != nil {
		return err
	}
	o.Printed = metric.Printed
	switch {
	case metric.Auto:
		o.Metrics = []Metric{{Name: trial.MetricWall}, {Name: trial.MetricCPU}}
	default:
		o.Metrics = []Metric{{Name: metric.Name, Higher: metric.Higher}}
	}
	if len(o.Words) > 0 {
		o.Command = commandOf(o.Words)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return nil
}

// check names what makes no sense before anything is done.
func (o Options) check() error {
	switch {
	case o.Good == "":
		return errors.New("no good end; give --good REVISION, or a version with --package")
	case o.Bad == "":
		return errors.New("no bad end; give --bad REVISION, or a version with --package")
	case strings.TrimSpace(o.Command) == "":
		return errors.New("no command to measure; put it after --, for example: -- ./bench")
	case !(o.Smallest > 0) || o.Smallest > 1 || math.IsNaN(o.Smallest):
		return fmt.Errorf("smallest difference %v: give a part above 0 and up to 1, for example 0.02", o.Smallest)
	case o.Trials < leastTrials || o.Trials > stat.MaxPairs:
		return fmt.Errorf("--trials %d: give from %d, fewer decide nothing, to %d", o.Trials, leastTrials, stat.MaxPairs)
	case o.Timeout < 0 || o.BuildLimit < 0:
		return errors.New("a timeout is negative; give for example --timeout 1m")
	case o.Package != "" && o.Build != "":
		return errors.New("--build is for commits; a package is installed by --install CMD")
	case o.Package == "" && o.Install != "":
		return errors.New("--install is for packages; give --package, or --build CMD for commits")
	case o.Package != "" && o.Order != "":
		return errors.New("--order is for commits; versions have one order")
	case o.Package == "" && (len(o.Versions) > 0 || o.Pre):
		return errors.New("--versions and --pre are for packages; give --package too")
	case o.Order != "" && o.Order != FirstParent && o.Order != Topological:
		return fmt.Errorf("order %q: give %s or %s", o.Order, FirstParent, Topological)
	}
	return nil
}

// leastTrials is the fewest blocks that decide two metrics.
const leastTrials = 8
