package record

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxRateThreads bounds the threads whose numbers are read: four small files each.
const maxRateThreads = 512

// account is what the kernel counts for one thread, whether it is recorded or not.
type account struct {
	cpuNs  float64
	counts [len(counted)]float64
}

// counted are the numbers of an account that can stand for the work of a target.
var counted = [...]string{"system calls that read", "system calls that write", "voluntary switches", "page faults"}

// reading is the account of every thread of a target at one time. Threads come and go: what is
// compared are those that two readings share.
type reading struct {
	at      time.Time
	threads map[int]account
	printed []float64 // the numbers that the target has printed since the reading before
}

// readTarget takes a reading of processes.
func readTarget(pids []int) reading {
	r := reading{threads: map[int]account{}}
	for _, pid := range pids {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(filepath.Base(task))
			if err != nil || len(r.threads) >= maxRateThreads {
				continue
			}
			if one, ok := accountOf(task); ok {
				r.threads[tid] = one
			}
		}
	}
	r.at = time.Now()
	return r
}

// accountOf reads the files of one thread; false when it has ended.
func accountOf(task string) (a account, ok bool) {
	var texts [4]string
	for i, name := range []string{"schedstat", "io", "status", "stat"} {
		text, err := os.ReadFile(filepath.Join(task, name))
		if err != nil {
			return a, false
		}
		texts[i] = string(text)
	}
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			ok = false
		}
		return value
	}
	cpu, _, _ := strings.Cut(texts[0], " ")
	_, stat, found := strings.Cut(texts[3], ") ")
	fields := strings.Fields(stat)
	if !found || len(fields) < 10 {
		return a, false
	}
	ok = true
	a.cpuNs = number(cpu)
	a.counts = [...]float64{number(field(texts[1], "syscr:")), number(field(texts[1], "syscw:")),
		number(field(texts[2], "voluntary_ctxt_switches:")), number(fields[7])}
	return a, ok
}

// field is the word behind a name at the start of a line.
func field(text, name string) string {
	for _, line := range strings.Split(text, "\n") {
		if value, found := strings.CutPrefix(line, name); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// rates are what happened between two readings: count per CPU second, then count per second, then
// what was printed. few tells by name which rest on too few events.
func (r reading) rates(later reading) (values map[string]float64, few map[string]bool) {
	values, few = map[string]float64{}, map[string]bool{}
	var cpu float64
	var counts [len(counted)]float64
	for tid, before := range r.threads {
		after, there := later.threads[tid]
		if !there {
			continue
		}
		cpu += (after.cpuNs - before.cpuNs) / 1e9
		for i := range counts {
			counts[i] += after.counts[i] - before.counts[i]
		}
	}
	for i, name := range counted {
		values[name+perCPU] = counts[i] / cpu
		values[name+perSecond] = counts[i] / later.at.Sub(r.at).Seconds()
		few[name+perCPU], few[name+perSecond] = counts[i] < leastEvents, counts[i] < leastEvents
	}
	if len(later.printed) > 0 {
		sum := 0.0
		for _, value := range later.printed {
			sum += value
		}
		values[printedRate] = sum / float64(len(later.printed))
	}
	return values, few
}

const (
	perCPU      = " per CPU second"
	perSecond   = " per second"
	printedRate = "numbers that the target prints"
	// leastEvents in a block, and the most that rates of blocks may scatter: beyond that too many
	// blocks are needed.
	leastEvents = 200
	mostScatter = 0.4
)

// chooseRate picks the steadiest rate of readings that were all taken without the recorder: work
// per CPU second before work per second, because a target that waits for its load has the same rate
// per second however dear its work is.
func chooseRate(readings []reading) (name string, rejected []string) {
	var names []string
	for _, suffix := range []string{perCPU, perSecond} {
		for _, count := range counted {
			names = append(names, count+suffix)
		}
	}
	scatter := map[string]float64{}
	for _, candidate := range names {
		var values []float64
		for i := 1; i < len(readings); i++ {
			rates, few := readings[i-1].rates(readings[i])
			if value := rates[candidate]; !few[candidate] && value > 0 && !math.IsInf(value, 0) {
				values = append(values, value)
			}
		}
		if len(values) < len(readings)-1 || len(values) < 2 {
			rejected = append(rejected, candidate+": too few to count")
			continue
		}
		if scatter[candidate] = scatterOf(values); scatter[candidate] > mostScatter {
			rejected = append(rejected, fmt.Sprintf("%s: too unsteady (scatters by %.0f %%)", candidate,
				100*scatter[candidate]))
			delete(scatter, candidate)
		}
	}
	for _, suffix := range []string{perCPU, perSecond} {
		for _, candidate := range names {
			steadiness, usable := scatter[candidate]
			if usable && strings.HasSuffix(candidate, suffix) && (name == "" || steadiness < scatter[name]) {
				name = candidate
			}
		}
		if name != "" {
			return name, rejected
		}
	}
	return "", rejected
}

// scatterOf is the standard deviation in units of the mean.
func scatterOf(values []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, value := range values {
		mean += value / float64(len(values))
	}
	for _, value := range values {
		squares += (value - mean) * (value - mean)
	}
	return math.Sqrt(squares/float64(len(values)-1)) / mean
}

// Printed passes on what a command prints and keeps the numbers in it that a pattern's first group
// matches.
type Printed struct {
	out     io.Writer
	pattern *regexp.Regexp
	mu      sync.Mutex
	line    []byte
	numbers []float64
}

// maxPrintedLine bounds the line that is looked at, maxPrinted the numbers that are kept between
// two looks.
const (
	maxPrintedLine = 4096
	maxPrinted     = 1 << 16
)

// NewPrinted watches what goes to out; the pattern must have a group.
func NewPrinted(out io.Writer, pattern string) (*Printed, error) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("rate %q is no regular expression: %w", pattern, err)
	}
	if compiled.NumSubexp() < 1 {
		return nil, fmt.Errorf("rate %q has no group; put the number in parentheses, as in 'rate ([0-9.]+)'", pattern)
	}
	return &Printed{out: out, pattern: compiled}, nil
}

// Write passes on first: the command's output is not to wait for a look at it.
func (p *Printed) Write(data []byte) (int, error) {
	n, err := p.out.Write(data)
	p.mu.Lock()
	defer p.mu.Unlock()
	for rest := data; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			if len(p.line)+len(rest) <= maxPrintedLine {
				p.line = append(p.line, rest...)
			}
			break
		}
		if len(p.line)+end <= maxPrintedLine {
			p.line = append(p.line, rest[:end]...)
			p.look()
		}
		p.line, rest = p.line[:0], rest[end+1:]
	}
	return n, err
}

// look keeps the number of a whole line, if it has one.
func (p *Printed) look() {
	found := p.pattern.FindSubmatch(p.line)
	if found == nil || len(p.numbers) >= maxPrinted {
		return
	}
	if value, err := strconv.ParseFloat(string(found[1]), 64); err == nil && value > 0 && !math.IsInf(value, 0) {
		p.numbers = append(p.numbers, value)
	}
}

// take returns the numbers since the last call.
func (p *Printed) take() []float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	numbers := slices.Clone(p.numbers)
	p.numbers = p.numbers[:0]
	return numbers
}
