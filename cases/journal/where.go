package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"culprit/cases/child"
	"culprit/recording"
)

// where records each variant a few times and tells which cause culprit names and where the lines
// waited.
func where(ctx context.Context, o options, folder string, p programs, variants []variant) error {
	fmt.Print("\nWhich wait it was, in recordings of one thread of the C program. Causes that `culprit explain` " +
		"names with their\nshare of the time; the longest sleeps of writes over 10 ms: innermost functions of " +
		"the kernel, and who ended\nthe sleep\n")
	made := filepath.Join(folder, "recordings")
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	record := fmt.Sprintf(`exec %s record -f -o %s/$(date +%%s%%N).culprit --slow 10ms -- "$@"`, o.culprit, made)
	words := append(factors(variants), "--metric", "wall", "--trials", "2", "--budget", o.budget.String(),
		"--case", "where", "--", "sh", "-c", record, "sh")
	words = append(words, p.native(o.seconds+1)...)
	command := child.Command(ctx, o.culprit, append([]string{"try"}, words...)...)
	command.Dir = folder
	if text, err := command.CombinedOutput(); err != nil && command.ProcessState.ExitCode() != 1 {
		return fmt.Errorf("record: %w: %s", err, text)
	}
	result, err := readResult(filepath.Join(folder, "where"))
	if err != nil {
		return err
	}
	files, err := byVariant(made, result, variants)
	if err != nil {
		return err
	}
	for i, v := range variants {
		if err := tell(ctx, o.culprit, v, files[i]); err != nil {
			return err
		}
	}
	return nil
}

// byVariant sorts recordings by the trial in which their file was named: after its name comes no
// other.
func byVariant(folder string, r *result, variants []variant) ([][]string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.culprit"))
	if err != nil {
		return nil, err
	}
	found := make([][]string, len(variants))
	for _, path := range paths {
		stamp, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(path), ".culprit"), 10, 64)
		if err != nil {
			return nil, err
		}
		for _, t := range slices.Backward(r.Trials) {
			start, err := time.Parse(time.RFC3339Nano, t.Start)
			if err != nil {
				return nil, err
			}
			if start.UnixNano() <= stamp {
				at := of(variants, t.Levels)
				found[at] = append(found[at], path)
				break
			}
		}
	}
	return found, nil
}

// tell prints what the recordings of one variant say.
func tell(ctx context.Context, culprit string, v variant, files []string) error {
	fmt.Printf("\n  %s, %d recordings\n", v.label, len(files))
	causes := map[string][]float64{}
	var list []*wait
	seen := map[string]*wait{}
	for _, file := range files {
		named, err := explain(ctx, culprit, file)
		if err != nil {
			return err
		}
		for id, share := range named {
			causes[id] = append(causes[id], share)
		}
		rec, err := recording.Open(file)
		if err != nil {
			return err
		}
		list = addWaits(list, seen, rec)
	}
	for _, id := range slices.Sorted(maps.Keys(causes)) {
		fmt.Printf("    %s, in %d of them, %.2g to %.2g %%\n", id, len(causes[id]), 100*slices.Min(causes[id]),
			100*slices.Max(causes[id]))
	}
	slices.SortFunc(list, func(a, b *wait) int { return int(b.ns - a.ns) })
	for _, wait := range list[:min(3, len(list))] {
		fmt.Printf("    %7.0f ms in %d stalls  %s\n", float64(wait.ns)/1e6, wait.stalls, wait.place)
	}
	if len(list) == 0 {
		fmt.Println("    no write of a line slept for 10 ms")
	}
	return nil
}

// explain asks culprit for the causes of a recording that have to do with files and disks, and
// their shares.
func explain(ctx context.Context, culprit, file string) (map[string]float64, error) {
	text, err := exec.CommandContext(ctx, culprit, "explain", "--metric", "wall", "--json", "-", file).Output()
	if err != nil {
		return nil, fmt.Errorf("culprit explain %s: %w", file, err)
	}
	var document struct {
		Suspects []struct {
			Cause string
			Share struct{ Value float64 }
		} `json:"suspects"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("culprit explain %s: %w", file, err)
	}
	named := map[string]float64{}
	for _, suspect := range document.Suspects {
		if strings.HasPrefix(suspect.Cause, "file.") || strings.HasPrefix(suspect.Cause, "disk.") {
			named[suspect.Cause] = suspect.Share.Value
		}
	}
	return named, nil
}

// wait is one place where writes of lines slept.
type wait struct {
	place  string
	ns     int64
	stalls int
}

// writes tells writes of lines: by the threads that log, and by that behind their ring.
func writes(slow recording.Slow) bool {
	return slow.Name == "write" && (slow.Comm == "worker" || slow.Comm == "behind")
}

// addWaits adds up the longest sleeps of slow writes by the innermost functions of the kernel and
// who ended them.
func addWaits(list []*wait, seen map[string]*wait, rec *recording.Recording) []*wait {
	type stall struct {
		place  string
		number int32
	}
	known := map[stall]bool{}
	for _, slow := range rec.Slow {
		if !writes(slow) || slow.LongestNs == 0 {
			continue
		}
		place := innermost(rec.StackNames(slow.Stack)) + ", woken by " + waker(slow)
		if seen[place] == nil {
			seen[place] = &wait{place: place}
			list = append(list, seen[place])
		}
		seen[place].ns += slow.LongestNs
		if one := (stall{place, slow.Stall}); !known[one] {
			known[one] = true
			seen[place].stalls++
		}
	}
	return list
}

// waker says who ended a sleep. Which of the kernel's workers it was says nothing.
func waker(slow recording.Slow) string {
	if slow.WakerComm == "" {
		return "an interrupt"
	}
	kind, _, _ := strings.Cut(slow.WakerComm, "/")
	return kind
}

// scheduling are the functions that every sleep ends in.
var scheduling = []string{"schedule", "__schedule", "io_schedule", "schedule_timeout", "io_schedule_timeout",
	"bit_wait", "bit_wait_io", "schedule_preempt_disabled"}

// innermost names the three innermost functions that say what is waited for.
func innermost(names []string) string {
	for len(names) > 0 && slices.Contains(scheduling, names[len(names)-1]) {
		names = names[:len(names)-1]
	}
	names = slices.Clone(names[max(0, len(names)-3):])
	slices.Reverse(names)
	return strings.Join(names, " < ")
}
