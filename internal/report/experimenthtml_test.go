package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"culprit/internal/try"
)

// elements reads a page strictly and returns its elements and all of its text: what is not well
// formed fails.
func elements(t *testing.T, page []byte) (found []xml.StartElement, text string) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(page))
	decoder.Strict, decoder.AutoClose, decoder.Entity = true, xml.HTMLAutoClose, xml.HTMLEntity
	var out strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found, out.String()
		}
		if err != nil {
			t.Fatalf("not well formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			found = append(found, token.Copy())
		case xml.CharData:
			out.Write(token)
		}
	}
}

func attribute(element xml.StartElement, name string) string {
	for _, a := range element.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// with counts the elements of a name and a class.
func with(found []xml.StartElement, name, class string) int {
	count := 0
	for _, element := range found {
		if element.Name.Local == name && slices.Contains(strings.Fields(attribute(element, "class")), class) {
			count++
		}
	}
	return count
}

func renderedExperiment(t *testing.T, r *try.Result) []byte {
	t.Helper()
	page, err := renderExperiment(r)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// The page shows a dot for each trial, hollow with its reason where it is left out, the words of
// the terminal, and what limits the answer.
func TestExperimentPage(t *testing.T) {
	r := sampleExperiment()
	r.Trials[4].Why, r.Trials[4].Order = "stolen CPU time", 5
	r.BlindSpots = []string{"nobody looked"}
	r.Conditions[0].Metrics["cpu"] = try.Spread{Median: 0.121, Low: 0.119, High: 0.123}
	r.Conditions[1].Metrics["cpu"] = try.Spread{Median: 0.121, Low: -0.00725, High: 0.25}
	r.Effects[2].Low, r.Effects[2].High, r.Effects[2].Blocks = 1.11, 1.18, 3
	found, text := elements(t, renderedExperiment(t, r))
	for class, want := range map[string]int{"dot": 2 * (len(r.Trials) - 1), "out": 2, "point": len(r.Effects)} {
		if got := with(found, "circle", class); got != want {
			t.Errorf("%d circles of class %s, want %d", got, class, want)
		}
	}
	if bars := with(found, "line", "bar"); bars != 1 {
		t.Errorf("%d intervals drawn, want the one that is known", bars)
	}
	if strings.Contains(text, "−7.25") || !strings.Contains(text, "(119"+space+"ms to 123"+space+"ms), 5 trials") {
		t.Error("an interval below zero is shown, or one above is not")
	}
	if medians := with(found, "line", "median"); medians != len(r.Conditions)*len(r.Metrics) {
		t.Errorf("%d medians", medians)
	}
	text = strings.ReplaceAll(text, space, " ")
	wanted := append(headlines(r), "✗ worse: 1.16× (1.11× to 1.18×)", "trial 5: 121 ms, left out: stolen CPU time",
		"trial 5 of A tsc: stolen CPU time", "tau 0.90", "clocksource was tsc, tried kvm-clock: put back",
		"vm.swappiness is 10, was 60", `evil \x1b[31mwarning\n`, "nobody looked", "seed 7", "latency.p99", "= same",
		"smallest difference that counts, 2 %")
	for _, want := range wanted {
		if want = strings.ReplaceAll(want, space, " "); !strings.Contains(text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("a number that is not finite is shown as it is")
	}
}

// Places lie within the drawing and in the order of their values.
func TestExperimentPagePlaces(t *testing.T) {
	r := sampleExperiment()
	r.Trials[4].Metrics["cpu"] = 1e9 // left out, far beyond the scale
	r.Effects[2].Low, r.Effects[2].High = 1.11, 1.18
	chart := chartOf(r, r.Metrics[0])
	share := func(place string) float64 {
		value, err := strconv.ParseFloat(strings.TrimSuffix(place, "%"), 64)
		if err != nil || value < 0 || value > 100 {
			t.Errorf("place %q: %v", place, err)
		}
		return value
	}
	slow, fast := chart.Levels[2], chart.Levels[0]
	if a, c := share(fast.Median), share(slow.Median); a >= c {
		t.Errorf("A with 120 ms stands at %v %%, C with 139 ms at %v %%", a, c)
	}
	if last := share(fast.Dots[4].X); last != 98 || fast.Dots[4].Why == "" {
		t.Errorf("the trial beyond the scale is %+v", fast.Dots[4])
	}
	effect := chart.Effects[1]
	if one, low, ratio, high := share(chart.One), share(effect.Low), share(effect.Ratio), share(effect.High); one >= low ||
		low >= ratio || ratio >= high {
		t.Errorf("1 at %v, interval %v %v %v", one, low, ratio, high)
	}
	if share(chart.BandX) >= share(chart.One) || share(chart.BandWidth) <= 0 {
		t.Errorf("band from %s, %s wide", chart.BandX, chart.BandWidth)
	}
	if control := chart.Effects[0]; control.High != "" {
		t.Errorf("an interval that is unknown is drawn: %+v", control)
	}
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		a      axis
		factor float64
		unit   string
		want   string
	}{
		{axis{low: 0.1201, high: 0.141}, 1000, "ms", "125 ms, 130 ms, 135 ms, 140 ms"},
		{axis{low: 0.97, high: 1.2, log: true}, 1, "×", "1.00×, 1.05×, 1.10×, 1.15×, 1.20×"},
		{axis{low: 0.83, high: 4.4, log: true}, 1, "×", "1×, 2×, 3×, 4×"},
		{axis{low: 0.9, high: 30, log: true}, 1, "×", "1×, 2×, 5×, 10×, 20×"},
		{axis{low: 1e-200, high: 1e200, log: true}, 1, "×", ""},
		{axis{low: 5, high: 5}, 1, "", ""},
		{axis{low: 0, high: math.MaxFloat64}, 1e3, "", ""},
	} {
		marks := test.a.ticks(test.factor, test.unit)
		var texts []string
		for _, mark := range marks {
			texts = append(texts, strings.ReplaceAll(mark.Text, space, " "))
		}
		if got := strings.Join(texts, ", "); test.want != "" && got != test.want {
			t.Errorf("%+v: %s, want %s", test.a, got, test.want)
		}
		if len(marks) > ticksMax+1 {
			t.Errorf("%+v: %d marks", test.a, len(marks))
		}
	}
}

// hostileExperiment has hostile text in every place that a program or a file can fill.
func hostileExperiment() *try.Result {
	r := sampleExperiment()
	for i, name := range hostileNames() {
		metric := try.Metric{Name: name, Unit: name}
		r.Metrics = append(r.Metrics, metric)
		r.Conditions[i%3].Label, r.Trials[i%len(r.Trials)].Why = name, name
		r.Trials[i%len(r.Trials)].Valid = false
		r.Trials[0].Metrics[name] = math.Inf(1)
		r.Trials[1].Metrics[name] = -math.MaxFloat64
		r.Trials[2].Metrics[name] = math.MaxFloat64
		r.Effects = append(r.Effects, try.Effect{Factor: name, Level: name, Against: name, Metric: name, Verdict: name,
			Ratio: math.MaxFloat64, Low: -1, High: math.SmallestNonzeroFloat64, Why: name, Interaction: true})
		r.Trends = append(r.Trends, try.Trend{Factor: name, Metric: name, Verdict: name, Tau: math.NaN()})
		r.Settings = append(r.Settings, try.Setting{Name: name, Original: name, Tried: []string{name}, Now: name})
		r.Drift = append(r.Drift, try.Drift{Name: name, Before: name, After: name})
		r.Warnings, r.BlindSpots = append(r.Warnings, name), append(r.BlindSpots, name)
		r.Host.Name, r.Host.Kernel, r.Host.CPU, r.Command = name, name, name, name
	}
	r.Effects[2].Level, r.Effects[2].Against = hostileNames()[1], hostileNames()[2]
	r.Outcome = hostileNames()[0]
	return r
}

func TestExperimentPageOfHostileNames(t *testing.T) {
	costs := hostileExperiment()
	costs.Allowed = 0.03
	costs.Conditions[2].Levels = map[string]string{"monitor": hostileNames()[1]}
	for _, r := range []*try.Result{hostileExperiment(), costs} {
		page := renderedExperiment(t, r)
		found, text := elements(t, page)
		for _, element := range found {
			name := element.Name.Local
			if slices.Contains([]string{"script", "img", "iframe", "object", "a", "link", "image", "use"}, name) {
				t.Errorf("the page has an element %s", name)
			}
			for _, a := range element.Attr {
				if key := a.Name.Local; strings.HasPrefix(key, "on") || key == "style" || key == "href" || key == "src" {
					t.Errorf("%s has %s=%q", name, key, a.Value)
				}
			}
		}
		for _, char := range []string{"\u202e", "\u2066", "\x00", "\x1b", "\x07", "\r", strings.Repeat("\u0301", 3)} {
			if bytes.Contains(page, []byte(char)) || strings.Contains(html.UnescapeString(string(page)), char) {
				t.Errorf("the page shows %q as it is", char)
			}
		}
		for _, want := range []string{"<script>alert(1)</script>", `rtl\u202egnp.exe`, "${7*7}{{7*7}}", "名前は日本語です"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page does not show %q", want)
			}
		}
		if bytes.Contains(page, []byte("ZgotmplZ")) || bytes.Contains(page, []byte("NaN%")) {
			t.Error("a value found no place in the page")
		}
		if len(page) > 1_000_000 {
			t.Errorf("the page of a small experiment has %d bytes", len(page))
		}
	}
}

// The policy names the style that is inside and allows nothing else.
func TestExperimentPagePolicy(t *testing.T) {
	page := string(renderedExperiment(t, sampleExperiment()))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]+)"`).FindStringSubmatch(page)
	styles := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(page, -1)
	if policy == nil || len(styles) != 1 {
		t.Fatalf("policy %q, %d styles", policy, len(styles))
	}
	hash := sha256.Sum256([]byte(styles[0][1]))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; base-uri 'none'; form-action 'none'"
	if policy[1] != want {
		t.Errorf("policy is %s, want %s", policy[1], want)
	}
	if address := regexp.MustCompile(`https?:|url\(|@import`).FindString(page); address != "" {
		t.Errorf("the page refers to %s", address)
	}
}

// What is more than can be read is counted instead.
func TestExperimentPageLimits(t *testing.T) {
	r := sampleExperiment()
	for i := range 2 * dotsMax {
		r.Trials = append(r.Trials, try.Trial{Kind: kindMeasure, Valid: true, Metrics: map[string]float64{"cpu": 0.12}})
		r.Warnings = append(r.Warnings, fmt.Sprint("warning ", i))
	}
	found, text := elements(t, renderedExperiment(t, r))
	if dots := with(found, "circle", "dot"); dots > 2*(dotsMax+len(r.Trials)-2*dotsMax) {
		t.Errorf("%d dots", dots)
	}
	for _, want := range []string{"405 more trials not drawn", "601 more in result.json"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestOverheadPage(t *testing.T) {
	r := sampleExperiment()
	r.Allowed, r.Outcome = 0.03, try.Over
	for i, monitor := range []string{try.NoMonitor, try.NoMonitor, "strace -p {pid}"} {
		r.Conditions[i].Levels = map[string]string{"monitor": monitor}
	}
	r.Effects = []try.Effect{{Factor: "monitor", Level: "strace -p {pid}", Against: try.NoMonitor, Metric: "cpu",
		Ratio: 4.5, Low: 4, High: 5, Verdict: try.Over}}
	found, text := elements(t, renderedExperiment(t, r))
	text = strings.ReplaceAll(text, space, " ")
	for _, want := range []string{"✗ over", "strace -p {pid}",
		"4.50× (95 % between 4.00× and 5.00×): over the 3 % allowed", "within the 3 % allowed", "the monitor itself used"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if with(found, "section", "worse") != 1 {
		t.Error("the verdict has no colour")
	}
}

func TestExperimentPageIsWrittenWhole(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report.html")
	for range 2 { // the second time over the first
		if err := ExperimentHTML(path, sampleExperiment()); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Errorf("%v left, %v", files, err)
	}
	if text, err := os.ReadFile(path); err != nil ||
		!bytes.Contains(text, []byte("</html>")) {
		t.Errorf("the page is cut short: %v", err)
	}
	if err := ExperimentHTML(path, nil); err == nil {
		t.Error("no experiment makes a page")
	}
	if err := ExperimentHTML(filepath.Join(folder, "none", "report.html"), sampleExperiment()); err == nil {
		t.Error("a folder that is not there takes a page")
	}
}
