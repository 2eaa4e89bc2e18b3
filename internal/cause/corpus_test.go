package cause_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/internal/corpus"
)

const (
	corpusFolder = "testdata/corpus"
	// missesFile lists the pairs whose truth is missed, each with the reason: "name: reason".
	missesFile = "testdata/misses.txt"
	// verdictsFile holds what was said of each pair, so that a change shows each verdict that it changes.
	verdictsFile = "testdata/verdicts.txt"
)

var (
	update   = flag.Bool("update", false, "write testdata/verdicts.txt anew")
	verdicts = flag.String("verdicts", "", "write the verdicts on the corpus to this file, and hold them to nothing")
)

// replayed is one pair of the corpus, judged again.
type replayed struct {
	name    string
	truth   string
	answer  corpus.Answer
	verdict corpus.Verdict
	took    time.Duration
}

// Every judgement of the corpus is made again: it names the true cause and place, unless it is a known miss, and says
// what it said before. After a change that is meant to change verdicts: go test ./internal/cause -run Corpus -update
func TestCorpus(t *testing.T) {
	files, err := corpus.List(corpusFolder)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("the corpus is empty")
	}
	misses, old := readMisses(t, files), readVerdicts(t)
	rows := make([]replayed, len(files))
	t.Run("pair", func(t *testing.T) {
		for i, file := range files {
			rows[i].name = nameOf(file)
			t.Run(rows[i].name, func(t *testing.T) {
				t.Parallel()
				rows[i].judge(t, file)
				if *verdicts != "" || t.Failed() {
					return
				}
				rows[i].holdToTruth(t, misses)
				if now := rows[i].text(); !*update && now != old[rows[i].name] {
					t.Errorf("the verdict changed (-update writes the new one)\nit was\n%s\nit is\n%s",
						old[rows[i].name], now)
				}
			})
		}
	})
	table(t, rows)
	if *verdicts != "" {
		writeVerdicts(t, *verdicts, rows, nil)
	} else if *update {
		writeVerdicts(t, verdictsFile, rows, old)
	}
}

func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), corpus.Extension) }

func (r *replayed) judge(t *testing.T, file string) {
	pair, err := corpus.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if pair.Name != r.name {
		t.Errorf("the pair is called %s, its file %s", pair.Name, file)
	}
	start := time.Now()
	r.answer = pair.Answer()
	r.took = time.Since(start)
	r.verdict = pair.Truth.Judge(r.answer)
	r.truth = strings.Join(pair.Truth.Causes, " or ")
}

func (r *replayed) holdToTruth(t *testing.T, misses map[string]string) {
	reason, known := misses[r.name]
	switch {
	case r.verdict.Missed != "" && !known:
		t.Error(r.verdict.Missed)
	case r.verdict.Missed == "" && known:
		t.Errorf("the truth is found now: remove %q from %s", r.name+": "+reason, missesFile)
	}
}

// text is what the golden file holds of a pair.
func (r *replayed) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s\n", r.name, r.answer.Outcome, r.answer.Metric)
	for _, s := range r.answer.Suspects {
		place := "nowhere"
		if len(s.Where) > 0 {
			place = s.Where[0]
		}
		fmt.Fprintf(&b, "  %s %.0f %% %s at %s\n", s.Cause, 100*s.Share.Value, s.Level, place)
	}
	return b.String()
}

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
	t.Logf("\n%-24s %-22s %-5s %-5s %-9s %s\n%s%d of %d found, %.1f s of judging", "pair", "first suspect", "first",
		"place", "outcome", "missed", b.String(), found, judged, took.Seconds())
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

// readVerdicts reads the golden file by pair.
func readVerdicts(t *testing.T) map[string]string {
	texts, name := map[string]string{}, ""
	for line := range strings.Lines(read(t, verdictsFile)) {
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
			b.WriteString(r.text())
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
