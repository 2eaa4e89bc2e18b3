package load

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What tools of these versions printed: wrk 4.1, ab 2.3, redis-benchmark 7.0, pgbench 15, hey
// 0.1.5; ghz and k6 as their documentation has it.
func TestSamplesAreRead(t *testing.T) {
	for _, want := range []struct {
		file, tool       string
		requests, failed float64
		throughput       float64
		mean             float64
		percentiles      map[float64]float64
	}{
		{"wrk.txt", "wrk", 15449, 0, 15350.13, 1.48e-3, nil},
		{"wrk-latency.txt", "wrk", 6691, 0, 6646.8, 2.33e-3, map[float64]float64{50: 218e-6, 99: 21.19e-3}},
		{"wrk-errors.txt", "wrk", 25149, 25149, 22370.3, 5.09e-3, nil},
		{"ab.txt", "ab", 2000, 0, 4929.65, 0.811e-3, nil},
		{"ab-errors.txt", "ab", 500, 500, 14616.46, 0.274e-3, nil},
		{"redis.txt", "redis-benchmark", 20000, 0, 17331.02, 2.345e-3, map[float64]float64{50: 0.919e-3, 99: 17.343e-3}},
		{"redis-two.txt", "redis-benchmark", 4000, 0, 0, 0, map[float64]float64{}},
		{"redis-quiet.txt", "redis-benchmark", 0, 0, 2 / (1/15174.51 + 1/12113.87), 0, map[float64]float64{}},
		{"redis-csv.txt", "redis-benchmark", 0, 0, 49504.95, 0.057e-3, map[float64]float64{50: 0.047e-3, 99: 0.239e-3}},
		{"redis-csv-two.txt", "redis-benchmark", 0, 0, 2 / (1/43859.65 + 1/47169.81), 0.0625e-3, map[float64]float64{}},
		{"pgbench.txt", "pgbench", 400, 0, 0, 0, nil},
		{"hey.txt", "hey", 1000, 0, 7458.6025, 0, map[float64]float64{95: 2.3e-3, 99: 3.8e-3}},
		{"hey-errors.txt", "hey", 100, 100, 6724.9686, 0, nil},
		{"hey-refused.txt", "hey", 100, 100, 15774.6173, 0, map[float64]float64{}},
		{"ghz.txt", "ghz", 200, 8, 1101.53, 38.2e-3, map[float64]float64{50: 39.12e-3, 99: 71.42e-3}},
		{"k6.txt", "k6", 180, 0, 4.36938, 144.56e-3, map[float64]float64{50: 110.47e-3, 95: 215.95e-3}},
		{"k6-v1.txt", "k6", 45, 3, 6.56109, 140.36e-3, map[float64]float64{50: 140.96e-3, 95: 148.21e-3}},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", want.file))
		if err != nil {
			t.Fatal(err)
		}
		got, known := Read(string(text))
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, b) }
		if !known || got.Tool != want.tool || got.Requests != want.requests || got.Failed != want.failed ||
			want.throughput > 0 && !near(got.Throughput, want.throughput) ||
			want.mean > 0 && !near(got.Mean, want.mean) || (got.Err() != nil) != (want.failed > 0) {
			t.Errorf("%s: %+v, %v", want.file, got, got.Err())
		}
		for percent, value := range want.percentiles {
			if !near(got.Percentiles[percent], value) {
				t.Errorf("%s: %s is %g, want %g", want.file, Percentile(percent), got.Percentiles[percent], value)
			}
		}
		if want.percentiles != nil && len(want.percentiles) == 0 && len(got.Percentiles) > 0 {
			t.Errorf("%s: percentiles %v, want none", want.file, got.Percentiles)
		}
	}
}

func TestFailuresAreNamed(t *testing.T) {
	result, _ := Read("  900 requests in 1.00s, 1MB read\n  Socket errors: connect 0, read 12, write 0, timeout 5\n" +
		"Requests/sec:    900.00\n")
	err := result.Err()
	if err == nil || !strings.Contains(err.Error(), "17 of 900 requests failed (12 read errors, 5 time-outs)") {
		t.Errorf("%v", err)
	}
}

func TestOtherTextIsNotRead(t *testing.T) {
	for _, text := range []string{"", "done\n", "Requests/sec: 12\n", "5 requests in 1s\n",
		"1 requests in 1s\nRequests/sec: " + strings.Repeat("9", 400) + "\n"} {
		if result, known := Read(text); known {
			t.Errorf("%.40q was read as %+v", text, result)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		result, known := Read(text)
		if !known {
			return
		}
		for name, value := range result.Metrics() {
			if !(value > 0) || math.IsInf(value, 0) {
				t.Errorf("%s is %g", name, value)
			}
		}
		if err := result.Err(); err != nil && strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("%q is not one line", err)
		}
	})
}
