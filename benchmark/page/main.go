// Command page says how long the page of a case takes in Chromium: until the first picture of its
// flame graph, for a search, and for each shape, of a call tree of many nodes.
//
//	go run ./benchmark/page -nodes 800000 -rounds 7
//
// Nodes have the shape of a JVM's: deep, few wide branches, very many small leaves. Their numbers
// are random, so that they hardly compress: a recording's do better. Each round opens the page
// anew. It judges what a reader waits for: from the beginning of the navigation, and from a key or
// a click, to the frame after the canvas was drawn. Beside it stands the CPU time of the page's
// main thread, which others on the host do not lengthen as much. It refuses a host without
// Chromium.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/investigate"
	"culprit/internal/report"
	"culprit/internal/report/browser"
	"culprit/internal/stat"
)

func main() {
	nodes := flag.Int("nodes", 800_000, "nodes of the call tree")
	names := flag.Int("names", 8000, "different names of functions")
	rounds := flag.Int("rounds", 5, "how often the page is opened")
	kept := flag.String("keep", "", "leave the page in this file")
	flag.Parse()
	if *nodes < 1000 || *names < 1 || *rounds < 1 {
		fmt.Fprintln(os.Stderr, "benchmark/page: -nodes from 1000, -names and -rounds from 1")
		os.Exit(2)
	}
	r := &run{}
	defer r.end()
	folder := r.TempDir()
	path := filepath.Join(folder, "page.html")
	if *kept != "" {
		path, _ = filepath.Abs(*kept)
	}
	found := &investigate.Case{Schema: investigate.CaseSchema, Outcome: investigate.Worse, Per: "run",
		Metric: investigate.Metric{Name: "cpu", Unit: "s", Better: "lower"},
		A:      investigate.SideSummary{Command: "a"}, B: &investigate.SideSummary{Command: "b"},
		Profile: treeOf(*nodes, *names)}
	if err := report.HTML(path, found); err != nil {
		r.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		r.Fatal(err)
	}
	fmt.Printf("%d nodes, %d names, %.1f MB, load %s before\n\n", *nodes, *names, float64(info.Size())/1e6, load())
	measured := map[string]*taken{}
	for round := range *rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, *rounds)
		open(path, func(name string, waited, cpu float64) {
			of := cmp.Or(measured[name], &taken{})
			of.waited, of.cpu = append(of.waited, waited), append(of.cpu, cpu)
			measured[name] = of
		})
	}
	fmt.Printf("| milliseconds | median | least | most | CPU of the main thread |\n|---|---|---|---|---|\n")
	for _, step := range slices.Concat([]string{"first picture"}, stepNames()) {
		all := measured[step]
		fmt.Printf("| %s | %.0f | %.0f | %.0f | %.0f |\n", step, stat.Middle(all.waited), slices.Min(all.waited),
			slices.Max(all.waited), stat.Middle(all.cpu))
	}
	fmt.Printf("\nload %s after\n", load())
}

// taken is what a step took in each round, in milliseconds.
type taken struct{ waited, cpu []float64 }

// load is the host's, of the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// A step is an act on the page after which it draws.
type step struct{ name, act string }

func steps() []step {
	press := func(text string) string {
		return "[...document.querySelectorAll('#flame button')].find((e) => e.textContent === '" + text + "').click()"
	}
	write := func(text string) string {
		return "(() => { const field = document.querySelector('#flame input'); field.value = '" + text + "'; " +
			"field.dispatchEvent(new Event('input', {bubbles: true})); })()"
	}
	return []step{
		{"search that hits a ninth of the names", write("Class1")},
		{"search that hits one name", write("Class77.method")},
		{"search that is ended", write("")},
		{"widths of A", press("A")}, {"shares", press("share of its side")},
		{"inverted", press("inverted")}, {"by kind of code", press("by kind of code")},
		{"around one function", press("around one function")}, {"by thread", press("by thread")},
		{"as called", press("as called")},
	}
}

func stepNames() (names []string) {
	for _, step := range steps() {
		names = append(names, step.name)
	}
	return names
}

// open measures one visit.
func open(path string, tell func(name string, waited, cpu float64)) {
	visit := &run{}
	defer visit.end()
	b := browser.Apart(visit)
	b.Window(1280, 900, "light")
	b.Call("Performance.enable", browser.Fields{"timeDomain": "threadTicks"})
	b.Go("file://" + path)
	b.Wait("document.readyState === 'complete' && document.querySelector('canvas[data-ready-ms]') !== null")
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			visit.Fatalf("the page answers %q: %v", text, err)
		}
		return value
	}
	tell("first picture", number(b.Eval("document.querySelector('canvas').dataset.readyMs")), cpuOf(visit, b))
	for _, step := range steps() {
		before := cpuOf(visit, b)
		waited := number(b.Eval(redrawn(step.act)))
		tell(step.name, waited, cpuOf(visit, b)-before)
	}
}

// cpuOf is the CPU time that the page's main thread has had, in milliseconds.
func cpuOf(r *run, b *browser.Browser) float64 {
	var answer struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	if err := json.Unmarshal(b.Call("Performance.getMetrics", browser.Fields{}), &answer); err != nil {
		r.Fatal(err)
	}
	for _, metric := range answer.Metrics {
		if metric.Name == "TaskDuration" {
			return metric.Value * 1000
		}
	}
	r.Fatal("the browser tells no CPU time of the page")
	return 0
}

// redrawn gives the milliseconds from an act to the frame that shows it.
func redrawn(act string) string {
	return `(async () => {
		const drawn = () => [...document.querySelectorAll('#flame canvas')]
			.map((one) => one.dataset.draws + one.getAttribute('aria-label')).join();
		await new Promise((done) => setTimeout(done, 300));
		const before = drawn(), from = performance.now();
		` + act + `;
		while (drawn() === before && performance.now() - from < 50000) await new Promise((done) => setTimeout(done, 0));
		await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
		return (performance.now() - from).toFixed(1);
	})()`
}
