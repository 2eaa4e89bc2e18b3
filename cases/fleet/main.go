// Command fleet makes the windows of a simulated fleet out of a real recording, to put into a store
// and to ask. What is planted is written to DIR/truth.json:
//
//   - a band: an eighth of the hosts is 1.3 times as dear, in one function, where a fact is otherwise;
//   - a new version, rolled out over six hours, that costs half a per cent more;
//   - a label that explains nothing, facts that differ by luck, hosts that differ by 3 %;
//   - hosts that are replaced, clocks that are wrong.
//
// Windows are made one after the other: memory does not grow with hosts or hours.
//
//	culprit record --light -d 20s -a -o some.culprit
//	go run ./cases/fleet -from some.culprit -hosts 100 -hours 48 -each 1h -out windows
//	culprit-hub add --store store windows && culprit fleet bands web --store store
//
// It refuses a directory that is not empty.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"culprit/recording"
)

// plan says what is made.
type plan struct {
	From     string        `json:"from"`
	Hosts    int           `json:"hosts"`
	Hours    int           `json:"hours"`
	Each     time.Duration `json:"each"`
	Band     float64       `json:"band"`   // share of hosts in the dear band
	Ratio    float64       `json:"ratio"`  // of the bands
	Spread   float64       `json:"spread"` // of hosts in a band
	Effect   float64       `json:"effect"` // of the new version
	Rollout  int           `json:"rollout_hour"`
	Fact     string        `json:"fact"`
	Function string        `json:"function"`
	End      time.Time     `json:"end"`
	Seed     uint64        `json:"seed"`
}

func main() {
	p := plan{Fact: "mm.thp", Function: "Secondary::scan"}
	flag.StringVar(&p.From, "from", "", "recording whose stacks and facts the windows have (required)")
	flag.IntVar(&p.Hosts, "hosts", 100, "hosts")
	flag.IntVar(&p.Hours, "hours", 24, "hours")
	flag.DurationVar(&p.Each, "each", time.Hour, "from one window to the next; a window has one minute of it")
	flag.Float64Var(&p.Band, "band", 0.12, "share of hosts in the dear band")
	flag.Float64Var(&p.Ratio, "ratio", 1.3, "what the dear band costs more")
	flag.Float64Var(&p.Spread, "spread", 0.03, "spread of hosts in a band")
	flag.Float64Var(&p.Effect, "effect", 0.005, "what the new version costs more")
	flag.IntVar(&p.Rollout, "rollout", 0, "hour at which the new version comes, 0: two thirds of the time")
	flag.Uint64Var(&p.Seed, "seed", 1, "other hosts with another number")
	out := flag.String("out", "windows", "directory")
	end := flag.String("end", "", "end of the last hour, RFC 3339 (default: the last full hour)")
	flag.Parse()
	if err := run(p, *out, *end); err != nil {
		fmt.Fprintln(os.Stderr, "cases/fleet:", err)
		os.Exit(2)
	}
}

func run(p plan, out, end string) (err error) {
	if p.End = time.Now().UTC().Truncate(time.Hour); end != "" {
		if p.End, err = time.Parse(time.RFC3339, end); err != nil {
			return fmt.Errorf("-end: %w", err)
		}
	}
	if p.Rollout == 0 {
		p.Rollout = p.Hours * 2 / 3
	}
	if p.From == "" || p.Hosts < 1 || p.Hours < 1 || p.Each < time.Minute {
		return errors.New("give -from FILE, at least one host and hour, and -each of a minute or more")
	}
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty", out)
	}
	base, err := recording.Open(p.From)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	truth, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "truth.json"), append(truth, '\n'), 0o644); err != nil {
		return err
	}
	start := time.Now()
	windows, err := makeHosts(p, base, out)
	fmt.Printf("%d windows of %d hosts in %.0f s\n", windows, p.Hosts, time.Since(start).Seconds())
	return err
}

// makeHosts makes all hosts, as many at once as there are CPUs.
func makeHosts(p plan, base *recording.Recording, out string) (windows int, err error) {
	next := make(chan int)
	var mutex sync.Mutex
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for number := range next {
				made, failed := newHost(p, base, number).write(out)
				mutex.Lock()
				windows, err = windows+made, errors.Join(err, failed)
				mutex.Unlock()
			}
		})
	}
	for number := range p.Hosts {
		next <- number
	}
	close(next)
	wait.Wait()
	return windows, err
}
