// Command page says how long the page of a case takes in Chromium: until the first picture of its flame graph, for a
// search, and for each shape, of a call tree of many nodes.
//
//	go run ./benchmark/page -nodes 800000 -rounds 7
//
// Nodes have the shape of a JVM's: deep, few wide branches, very many small leaves. Their numbers are random, so that
// they hardly compress: a recording's do better. Each round opens the page anew. It judges what a reader waits for:
// from the beginning of the navigation, and from a key or a click, to the frame after the canvas was drawn. It refuses
// a host without Chromium.
package main

import (
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
	measured := map[string][]float64{}
	for round := range *rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, *rounds)
		open(path, func(name string, ms float64) { measured[name] = append(measured[name], ms) })
	}
	fmt.Printf("| milliseconds | median | least | most |\n|---|---|---|---|\n")
	for _, step := range slices.Concat([]string{"first picture"}, stepNames()) {
		all := slices.Sorted(slices.Values(measured[step]))
		fmt.Printf("| %s | %.0f | %.0f | %.0f |\n", step, stat.Middle(all), all[0], all[len(all)-1])
	}
	fmt.Printf("\nload %s after\n", load())
}

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
func open(path string, tell func(name string, ms float64)) {
	visit := &run{}
	defer visit.end()
	b := browser.Start(visit)
	b.Window(1280, 900, "light")
	b.Go("file://" + path)
	b.Wait("document.readyState === 'complete' && document.querySelector('canvas[data-ready-ms]') !== null")
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			visit.Fatalf("the page answers %q: %v", text, err)
		}
		return value
	}
	tell("first picture", number(b.Eval("document.querySelector('canvas').dataset.readyMs")))
	for _, step := range steps() {
		tell(step.name, number(b.Eval(redrawn(step.act))))
	}
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
