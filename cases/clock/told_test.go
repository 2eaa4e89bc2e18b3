package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func written(t *testing.T, name, text string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestConsoleIsRead(t *testing.T) {
	const line = "---alone source acpi_pm requests 4000 errors 0 mean_us 410 p50_us 380 p99_us 1200 busy_us 800000\n"
	found, err := readConsole("boot\n" + line + "---tried\nBETTER     tsc\n")
	if err != nil || found.source != "acpi_pm" || found.ofRequest() != 200 || found.values["mean_us"] != 410 ||
		found.tried != "BETTER     tsc\n" {
		t.Errorf("%+v, %v", found, err)
	}
	for text, want := range map[string]string{
		"boot\njava: not found\n":                                  "java: not found",
		strings.Replace(line, "errors 0", "errors 1", 1):           "the load failed",
		strings.Replace(line, "busy_us 800000", "", 1):             "the load failed",
		strings.Replace(line, "mean_us 410", "mean_us x", 1):       "mean_us",
		strings.Replace(line, "mean_us 410", "mean_us", 1):         "did not measure",
		"---alone source acpi_pm ask: no request was answered: \n": "did not measure",
	} {
		if _, err := readConsole(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A comparison names a cause only where B is worse.
func TestFirstSuspect(t *testing.T) {
	const suspects = `"suspects": [{"cause": "clock.slow-source"}, {"cause": "code.grew"}]}`
	for text, want := range map[string]string{
		`{"outcome": "worse", ` + suspects:        "clock.slow-source",
		`{"outcome": "undecided", ` + suspects:    "",
		`{"outcome": "worse", "suspects": []}`:    "",
		`{"outcome": "better", "suspects": null}`: "",
	} {
		if got, err := firstSuspect(filepath.Join(written(t, "c.json", text), "c.json")); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if _, err := firstSuspect(filepath.Join(written(t, "c.json", "{"), "c.json")); err == nil {
		t.Error("half a document")
	}
}

// The flip proves it when tsc surely takes CPU time away, and the slow source came back.
func TestProof(t *testing.T) {
	const better = `{"metric": "cpu_per_call", "level": "tsc", "against": "acpi_pm", "ratio": 0.7, "low": 0.6, "high": 0.8,
		"verdict": "better"}`
	undecided := strings.Replace(better, "better", "undecided", 1)
	for text, want := range map[string]string{
		`{"restored": true, "effects": [` + better + `]}`:    "",
		`{"restored": true, "effects": [` + undecided + `]}`: "undecided",
		`{"restored": false, "effects": [` + better + `]}`:   "restored false",
		`{"restored": true, "effects": []}`:                  "restored true, effects []",
	} {
		found, err := readProof(written(t, "try.json", text))
		if err == nil {
			err = found.check()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Samples count below any function that reads the time, whoever calls it.
func TestShare(t *testing.T) {
	const folded = "request;Store.put;os::javaTimeMillis;clock_gettime;read_hpet 30\n" +
		"request;Store.put;os::javaTimeNanos 10\nrequest;Store.put;Store.stamp 50\nVM Thread;collect 10\n"
	if got, err := share(folded); err != nil || math.Abs(got-0.4) > 1e-9 {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "no number\n", "7\n"} {
		if _, err := share(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestReadCost(t *testing.T) {
	const text = `{"findings": [{"group": "time", "name": "time.syscall", "ns": 900},
		{"group": "time", "name": "time.vdso", "ns": 80}]}`
	if got, err := readCost(written(t, "bench.json", text)); err != nil || got != 80 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := readCost(written(t, "bench.json", `{"findings": []}`)); err == nil {
		t.Error("no cost of a time read is taken")
	}
}

func TestTable(t *testing.T) {
	values := func(mean, busy float64) map[string]float64 {
		return map[string]float64{"requests": 1000, "mean_us": mean, "busy_us": busy}
	}
	f := figures{quick: measured{source: "tsc", values: values(400, 200_000)},
		slow:      measured{source: "acpi_pm", values: values(520, 260_000)},
		quickRead: 80, slowRead: 800, shares: map[string]float64{"quick": 0.02, "slow": 0.31},
		proof: proof{cpu: effect{Ratio: 0.75, Low: 0.7, High: 0.8, Verdict: "better"}}}
	var b strings.Builder
	f.table(&b)
	for _, want := range []string{"tsc → acpi_pm", "80 ns → 800 ns: 10.0×", "31.0 %", "2.0 %", "200 µs → 260 µs: +30 %",
		"400 µs → 520 µs: +30 %", "-25 % (-30 to -20): better", "not measured"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("without %q:\n%s", want, b.String())
		}
	}
}

// Each host does the same, but for what it differs in; only the slow one flips.
func TestScripts(t *testing.T) {
	plain := quick.script()
	for _, word := range []string{"NAME", "START", "RATE", "WARM", "ROWS", "ALONE", "SECONDS", "RECORDINGS", "CLOCK",
		"FLIPS"} {
		if strings.Contains(slow.script(), word) {
			t.Errorf("%s is not filled in:\n%s", word, slow.script())
		}
	}
	if !strings.HasPrefix(slow.script(), strings.ReplaceAll(plain, "quick", "slow")) ||
		!strings.Contains(slow.script(), "--vary clocksource=acpi_pm,tsc") {
		t.Errorf("the slow host's script:\n%s", slow.script())
	}
	other := strings.Replace(fenced.script(), fenced.start+"/java", "/java", 1)
	if strings.ReplaceAll(other, "fenced", "quick") != plain {
		t.Errorf("the fenced host's script:\n%s", fenced.script())
	}
}

func TestLibraries(t *testing.T) {
	const text = `/tmp/x/java/bin/java:
	linux-vdso.so.1 (0x00007f83047cd000)
	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f8304796000)
	libjli.so => /tmp/x/java/bin/../lib/libjli.so (0x00007f8304786000)
	/lib64/ld-linux-x86-64.so.2 (0x00007f83047cf000)
/tmp/x/java/lib/server/libjvm.so:
	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f8304796000)
	libgone.so => not found
`
	got := strings.Join(libraries(text, "/tmp/x/java"), " ")
	if want := "/lib/x86_64-linux-gnu/libz.so.1 /lib64/ld-linux-x86-64.so.2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
