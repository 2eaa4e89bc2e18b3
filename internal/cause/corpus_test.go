package cause_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/internal/cause"
	"culprit/internal/corpus"
)

const (
	corpusFolder = "testdata/corpus"
	// recordedFolder holds recordings of some of the pairs, which the tests of compare read as
	// well.
	recordedFolder = "../compare/testdata/pairs"
	// missesFile lists the pairs whose truth is missed, each with the reason: "name: reason".
	missesFile = "testdata/misses.txt"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Scenes are large and short-lived: with the usual setting the collector takes a sixth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
	os.Exit(m.Run())
}

// replayed is one pair of the corpus, judged again.
type replayed struct {
	name    string
	answer  corpus.Answer
	verdict corpus.Verdict
	took    time.Duration
}

// Every judgement of the corpus is made again: it names the true cause and place, unless it is a
// known miss, holds to the model, and says what it said before. After a change that is meant to
// change verdicts: go test ./internal/cause -run Corpus -update
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := corpus.List(corpusFolder)
	if err != nil {
		t.Fatal(err)
	}
	r := replay{golden: "testdata/verdicts.txt", misses: readMisses(t, files)}
	for _, file := range files {
		r.rows = append(r.rows, replayed{name: nameOf(file)})
	}
	r.run(t, func(*corpus.Pair) error { return nil })
}

// Some pairs are judged from their recordings on, two a side: what is compared decides as well.
func TestCorpusFromRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("compares again what the tests of compare do, and TestCorpus judges: -short leaves it out")
	}
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(recordedFolder, "*"+corpus.RecordingsExtension))
	if err != nil {
		t.Fatal(err)
	}
	r := replay{golden: "testdata/recorded.txt"}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), corpus.RecordingsExtension)
		r.rows = append(r.rows, replayed{name: name})
	}
	r.run(t, func(pair *corpus.Pair) error {
		path := filepath.Join(recordedFolder, pair.Name+corpus.RecordingsExtension)
		recordings, err := corpus.OpenRecordings(path)
		if err != nil {
			return err
		}
		return pair.Compare(recordings)
	})
}

// replay is one golden file and the pairs in it.
type replay struct {
	golden string
	misses map[string]string // nil: the truth is not asked for
	rows   []replayed
}

// run judges all pairs, each after it was made ready.
func (r *replay) run(t *testing.T, ready func(*corpus.Pair) error) {
	if len(r.rows) == 0 {
		t.Fatal("the corpus is empty")
	}
	old := readVerdicts(t, r.golden)
	t.Run("pair", func(t *testing.T) {
		for i := range r.rows {
			row := &r.rows[i]
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				row.judge(t, ready)
				if t.Failed() {
					return
				}
				row.holdToTruth(t, r.misses)
				if now := row.told().String(); !*update && now != old[row.name] {
					t.Errorf("the verdict changed (-update writes the new one)\nit was\n%s\nit is\n%s",
						old[row.name], now)
				}
			})
		}
	})
	table(t, r.rows)
	if *update {
		writeVerdicts(t, r.golden, r.rows, old)
	}
}

func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), corpus.Extension) }

func (r *replayed) judge(t *testing.T, ready func(*corpus.Pair) error) {
	pair, err := corpus.Open(filepath.Join(corpusFolder, r.name+corpus.Extension))
	if err == nil {
		err = ready(pair)
	}
	if err != nil {
		t.Fatal(err)
	}
	if pair.Name != r.name {
		t.Errorf("the pair is called %s, its file %s", pair.Name, r.name)
	}
	start := time.Now()
	if r.answer, err = pair.Answer(); err != nil {
		t.Fatal(err)
	}
	r.took = time.Since(start)
	cause.HoldToModel(t, r.answer.Judgement)
	r.answer.Judgement = cause.Judgement{Suspects: r.answer.Suspects, Why: r.answer.Why} // without its scene
	r.verdict = pair.Judge(r.answer)
}

func (r *replayed) holdToTruth(t *testing.T, misses map[string]string) {
	reason, known := misses[r.name]
	switch {
	case misses == nil:
	case r.verdict.Missed != "" && !known:
		t.Errorf("%s\n%s", r.verdict.Missed, inShort(r.answer.Why))
	case r.verdict.Missed == "" && known:
		t.Errorf("the truth is found now: remove %q from %s", r.name+": "+reason, missesFile)
	}
}

// inShort is what "culprit explain CASE --why" says of the order, and of what was not given.
func inShort(why cause.Why) string {
	var b strings.Builder
	for _, entry := range why.Entries {
		if entry.Action != cause.Passed {
			fmt.Fprintf(&b, "%s %s %s %.3g s at %s: %s\n", entry.Rule, entry.Action, entry.Cause, entry.Seconds, entry.Place,
				entry.Because)
		}
	}
	for _, move := range why.Moves {
		fmt.Fprintf(&b, "%s put %s before %s\n", move.Rule, move.First, move.Before)
	}
	for _, left := range why.LeftOut {
		fmt.Fprintf(&b, "left out %s at %s: %s\n", left.Cause, left.Place, left.Because)
	}
	if why.Second != nil {
		fmt.Fprintf(&b, "second is %s: %s\n", why.Second.Cause, why.Second.Needs)
	}
	return b.String()
}

func (r *replayed) told() corpus.Told { return corpus.Tell(r.name, r.answer, r.verdict) }

// table shows all pairs with -v.
func table(t *testing.T, rows []replayed) {
	if !testing.Verbose() {
		return
	}
	var b strings.Builder
	found, judged, took := 0, 0, time.Duration(0)
	sign := map[bool]string{true: "right", false: "wrong"}
	for _, r := range rows {
		if r.answer.Outcome == "" {
			continue // left out by -run
		}
		fmt.Fprintf(&b, "%-24s %-22s %-5s %-5s %-9s %s\n", r.name, r.verdict.Named, sign[r.verdict.First],
			sign[r.verdict.PlaceRight], r.answer.Outcome, r.verdict.Missed)
		judged, took = judged+1, took+r.took
		if r.verdict.Missed == "" {
			found++
		}
	}
	t.Logf("\n%-24s %-22s %-5s %-5s %-9s %s\n%s%d of %d found, %.1f s of judging", "pair",
		"first suspect", "first", "place", "outcome", "missed", b.String(), found, judged, took.Seconds())
}

func readMisses(t *testing.T, files []string) map[string]string {
	misses := map[string]string{}
	for line := range strings.Lines(read(t, missesFile)) {
		name, reason, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(line, "#") || !ok {
			continue
		}
		if !slices.ContainsFunc(files, func(file string) bool { return nameOf(file) == name }) {
			t.Errorf("%s lists %s, which is not in the corpus", missesFile, name)
		}
		misses[name] = reason
	}
	return misses
}

// readVerdicts reads a golden file by pair.
func readVerdicts(t *testing.T, file string) map[string]string {
	texts, name := map[string]string{}, ""
	for line := range strings.Lines(read(t, file)) {
		if !strings.HasPrefix(line, " ") {
			name, _, _ = strings.Cut(line, ":")
		}
		texts[name] += line
	}
	return texts
}

// writeVerdicts writes what the pairs say now. Those that -run left out keep what they said.
func writeVerdicts(t *testing.T, file string, rows []replayed, old map[string]string) {
	var b strings.Builder
	for _, r := range rows {
		if r.answer.Outcome != "" {
			b.WriteString(r.told().String())
		} else {
			b.WriteString(old[r.name])
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	content, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(content)
}
