package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"culprit/benchmark/peers"
)

// A crowd is a thousand processes, each in a cgroup of its own, or a thousand threads of one, that
// each sleep and compute by turns so many times.
const (
	crowdOf     = 1000
	crowdRounds = 60
)

// crowd measures what counting costs very many, and whether all of them have their row and the rows
// their sum.
func crowd(out io.Writer, culprit, folder string, rounds int) error {
	program, err := built(folder, "crowd")
	if err != nil {
		return err
	}
	names := make([]string, crowdOf)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	groups, remove, err := makeGroups(names...)
	if err != nil {
		return err
	}
	defer remove()
	all := make([]string, len(groups))
	for i := range groups {
		all[i] = groups[i].name
	}
	each := strings.Join(all, ",")
	for _, kind := range []struct {
		title, by string
		words     []string
		peer      []string
	}{
		{"a thousand cgroups", "cgroup", []string{"1000", "1", strconv.Itoa(crowdRounds), filepath.Dir(groups[0].folder)},
			[]string{"perf", "stat", "-a", "-e", fiveEvents, "--for-each-cgroup", each}},
		{"a thousand threads of one process", "thread", []string{"1", "1000", strconv.Itoa(crowdRounds)},
			[]string{"perf", "stat", "-a", "--per-thread", "-e", fiveEvents}},
	} {
		play := func() (float64, error) { return playCrowd(program, kind.words) }
		counted := filepath.Join(folder, "crowd.json")
		var told crowdTold
		ours := func(*bench) (float64, error) {
			took, err := told.beside(play, culprit, counted, kind.by)
			return took, err
		}
		settings := installed([]setting{{name: "alone", measure: func(*bench) (float64, error) { return play() }},
			{name: "culprit count --by " + kind.by, measure: ours},
			{name: "perf stat, each " + kind.by, measure: besidePlay(folder, play, kind.peer...)}})
		values, err := interleave(settings, rounds, func(s setting) (float64, error) { return s.measure(nil) })
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s, 5 events, CPU time of one sleep and its work\n", kind.title)
		printTable(out, settings, values, "ns")
		fmt.Fprintf(out, "culprit had %d rows of them, used %.1f %% of a CPU itself, and said: %s\n\n", told.rows, told.cpu,
			told.said)
	}
	return nil
}

func playCrowd(program string, words []string) (float64, error) {
	command := exec.Command(program, words...)
	command.SysProcAttr = peers.EndsWithOwner()
	if text, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("run crowd: %w: %s", err, peers.FirstLine(string(text)))
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return float64(used.Nanoseconds()) / (crowdOf * crowdRounds), nil
}

// crowdTold is what count told in the last round.
type crowdTold struct {
	rows int
	cpu  float64
	said string
}

// beside has count run beside the crowd and looks at its rows.
func (c *crowdTold) beside(play func() (float64, error), culprit, path, by string) (took float64, err error) {
	var said bytes.Buffer
	command := exec.Command(culprit, "count", "--by", by, "-i", "1s", "-e", fiveEvents, "--json", path)
	command.Stderr, command.SysProcAttr = &said, peers.EndsWithOwner()
	begun := time.Now()
	if err := command.Start(); err != nil {
		return 0, err
	}
	time.Sleep(peerStarts)
	took, err = play()
	time.Sleep(time.Second) // the interval in which the crowd ends
	_ = command.Process.Signal(os.Interrupt)
	if waited := command.Wait(); err == nil && waited != nil {
		err = fmt.Errorf("culprit count: %w: %s", waited, peers.FirstLine(said.String()))
	}
	if err != nil {
		return 0, err
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	c.cpu = 100 * used.Seconds() / time.Since(begun).Seconds()
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	c.said = strings.Join(lines[max(0, len(lines)-2):], "; ") // the sums, and what was lost
	c.rows, err = rowsOfCrowd(path, by)
	return took, err
}

// rowsOfCrowd counts who of the crowd has a row.
func rowsOfCrowd(path, by string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	keys := map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct{ Key, Comm string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return 0, err
		}
		base := row.Key[strings.LastIndexByte(row.Key, '/')+1:]
		_, numbered := strconv.Atoi(base)
		if by == "thread" && row.Comm == "crowd" ||
			by == "cgroup" && strings.Contains(row.Key, "culprit-benchmark") && numbered == nil {
			keys[row.Key] = true
		}
	}
	return len(keys), lines.Err()
}
