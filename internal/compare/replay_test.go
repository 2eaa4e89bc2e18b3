package compare_test

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/internal/corpus"
	"culprit/recording"
)

const (
	// replayedFolder holds recordings of pairs, two a side.
	replayedFolder = "testdata/pairs"
	// digestsFile holds what the comparison of each pair says.
	digestsFile = "testdata/digests.txt"
)

var update = flag.Bool("update", false, "write testdata/digests.txt anew")

// The recordings of real pairs are compared as before: the metric of each side, what changed most,
// and a sum over all that stands in the result. After a change that is meant to change it: go test
// ./internal/compare -run Replay -update
func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(replayedFolder, "*"+corpus.RecordingsExtension))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", replayedFolder, err)
	}
	old := readDigests(t)
	names, digests := make([]string, len(files)), make([]string, len(files))
	t.Run("pair", func(t *testing.T) {
		for i, file := range files {
			names[i] = strings.TrimSuffix(filepath.Base(file), corpus.RecordingsExtension)
			t.Run(names[i], func(t *testing.T) {
				t.Parallel()
				recordings, err := corpus.OpenRecordings(file)
				if err != nil {
					t.Fatal(err)
				}
				both, err := compare.Compare(recordings.A, recordings.B, compare.Options{})
				if err != nil {
					t.Fatal(err)
				}
				digests[i] = digest(names[i], both.CPU) + digest(names[i], both.Wall)
				if !*update && digests[i] != old[names[i]] {
					t.Errorf("the comparison changed (-update writes the new one)\n%s",
						differentLines(old[names[i]], digests[i]))
				}
			})
		}
	})
	if !*update {
		return
	}
	for i := range names { // left out by -run
		digests[i] = cmp.Or(digests[i], old[names[i]])
	}
	if err := os.WriteFile(digestsFile, []byte(strings.Join(digests, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	digestedRows = 10 // of paths, waits and counts each
	digestedHead = 50 // characters of a row …
	digestedTail = 90 // … that are shown from either end
)

// digestRow is one row of a result in short.
type digestRow struct {
	text string
	a, b float64
}

// String keeps both ends of a long text: whose time it is, and the innermost functions.
func (r digestRow) String() string {
	text := strings.Join(strings.FieldsFunc(r.text, func(c rune) bool { return c == '|' }), "|")
	if len(text) > digestedHead+digestedTail {
		text = strings.ToValidUTF8(text[:digestedHead]+"…"+text[len(text)-digestedTail:], "")
	}
	return fmt.Sprintf("%.4g to %.4g %s", r.a, r.b, text)
}

func mean(values []float64) (mean float64) {
	for _, value := range values {
		mean += value / float64(len(values))
	}
	return mean
}

// digest shows what changed most. The sums at the end of its first lines are over all rows.
func digest(name string, result *compare.Result) string {
	var paths, waits, counts, others []digestRow
	for i := range result.Paths {
		paths = append(paths, digestRow{described(&result.Paths[i]), mean(result.Paths[i].A),
			mean(result.Paths[i].B)})
	}
	for i := range result.Waits {
		wait := &result.Waits[i]
		waits = append(waits, digestRow{fmt.Sprintf("%.9g to %.9g stays %s", mean(wait.CountA),
			mean(wait.CountB), described(&wait.Path)), mean(wait.A), mean(wait.B)})
	}
	for _, count := range result.Counts {
		counts = append(counts, digestRow{count.Name + " " + count.Key + " " + count.Unit, mean(count.A),
			mean(count.B)})
	}
	for _, hop := range result.Hops {
		others = append(others, digestRow{fmt.Sprint("hop ", hop.Process, hop.WakerComm, hop.HopComm,
			hop.Frames), mean(hop.A), mean(hop.B)})
	}
	for _, line := range result.Lines {
		others = append(others, digestRow{fmt.Sprint("line ", line.Name, line.False, line.Functions,
			line.Threads, line.Words, line.Confirmed), mean(line.A), mean(line.B)})
	}
	for _, change := range result.Facts {
		others = append(others, digestRow{text: fmt.Sprint("fact ", change)})
	}
	others = append(others, digestRow{text: fmt.Sprint("unseen ", result.Unseen, result.Varying)})
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %.6g to %.6g s, %d paths %x, %d waits %x, %d counts %x, others %x\n", name,
		result.Metric, mean(result.A), mean(result.B), len(paths), sumOf(paths), len(waits), sumOf(waits),
		len(counts), sumOf(counts), sumOf(others))
	most(&b, "path", paths)
	if result.Metric == compare.MetricWall {
		return b.String() // the other tables are those of the CPU time
	}
	most(&b, "wait", waits)
	most(&b, "count", counts)
	return b.String()
}

// described is a path in one line: what kind of time it is, of whom, why, and where.
func described(p *compare.Path) string {
	text := fmt.Sprintf("%s %s/%s", p.Kind, p.Process, p.Comm)
	marks := []struct {
		name string
		set  bool
	}{{"own", p.WakerOwn}, {"short", p.Short}, {"ticking", p.Ticking}, {"lock", p.Lock},
		{"turn", p.Turn}, {"nap", p.Nap}}
	for _, mark := range marks {
		if mark.set {
			text += " " + mark.name
		}
	}
	for _, one := range []string{p.Parent, p.Syscall, p.WakerKind, p.WakerComm, p.Object,
		framesOf(p.WakerStack), framesOf(p.Holder), framesOf(p.Around), framesOf(p.For),
		framesOf(p.Frames)} {
		text += "|" + one
	}
	return text
}

func framesOf(frames []recording.Frame) string {
	names := make([]string, len(frames))
	for i, frame := range frames {
		names[i] = frame.Name
	}
	return strings.Join(names, ";")
}

func most(b *strings.Builder, kind string, rows []digestRow) {
	slices.SortFunc(rows, func(x, y digestRow) int {
		return cmp.Or(cmp.Compare(max(y.b-y.a, y.a-y.b), max(x.b-x.a, x.a-x.b)),
			cmp.Compare(x.text, y.text))
	})
	for _, row := range rows[:min(len(rows), digestedRows)] {
		fmt.Fprintf(b, "  %s %s\n", kind, row)
	}
}

// sumOf is a checksum over all rows, whatever their order. Nine digits: the order of a sum must not
// change it.
func sumOf(rows []digestRow) (sum uint32) {
	for _, row := range rows {
		hash := fnv.New32a()
		fmt.Fprintf(hash, "%s %.9g %.9g", row.text, row.a, row.b)
		sum += hash.Sum32()
	}
	return sum
}

// readDigests reads the golden file by pair.
func readDigests(t *testing.T) map[string]string {
	text, err := os.ReadFile(digestsFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	digests, name := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, " ") {
			name, _, _ = strings.Cut(line, " ")
		}
		digests[name] += line
	}
	return digests
}

// differentLines shows the lines that only one of two texts has.
func differentLines(before, after string) string {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	var b strings.Builder
	for _, line := range was {
		if !slices.Contains(is, line) {
			b.WriteString("- " + line + "\n")
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}
