package try

import (
	"math"
	"strings"
	"testing"
)

const wrkText = `Running 30s test @ http://127.0.0.1:8080/index.html
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  22464657 requests in 30.00s, 17.76GB read
Requests/sec: 748868.53
Transfer/sec:    606.33MB
`

const heyText = `
Summary:
  Total:	0.0187 secs
  Slowest:	0.0094 secs
  Fastest:	0.0002 secs
  Average:	0.0012 secs
  Requests/sec:	10691.0452

Latency distribution:
  10%% in 0.0004 secs
  50%% in 0.0009 secs
  99%% in 0.0072 secs
`

const redisText = `====== PING_INLINE ======
  100000 requests completed in 1.44 seconds
Latency by percentile distribution:
0.000% <= 0.119 milliseconds (cumulative count 1)
50.000% <= 0.343 milliseconds (cumulative count 53201)
99.902% <= 1.487 milliseconds (cumulative count 99904)
100.000% <= 2.519 milliseconds (cumulative count 100000)

Summary:
  throughput summary: 69589.42 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.370     0.112     0.343     0.575     0.831     2.519
`

const jmhText = `[{"jmhVersion":"1.37","benchmark":"x.Log.write","mode":"sample","primaryMetric":{"score":12.5,
"scoreUnit":"us/op","scorePercentiles":{"0.0":1.0,"50.0":10.0,"99.0":40.0,"100.0":90.0}}}]`

func TestLatencyFormats(t *testing.T) {
	for name, each := range map[string]struct {
		text string
		want map[string]float64
	}{
		"wrk": {wrkText, map[string]float64{"p50": 250e-6, "p99": 5.8e-3, "max": 12.92e-3, "mean": 635.91e-6,
			"throughput": 748868.53}},
		"hey":   {heyText, map[string]float64{"p50": 9e-4, "p99": 7.2e-3, "max": 9.4e-3, "throughput": 10691.0452}},
		"redis": {redisText, map[string]float64{"p50": 343e-6, "p99": 831e-6, "max": 2.519e-3, "throughput": 69589.42}},
		"jmh":   {jmhText, map[string]float64{"p50": 10e-6, "p99": 40e-6, "max": 90e-6, "mean": 12.5e-6}},
		"jmh,": {`[{"primaryMetric":{"score":5,"scoreUnit":"ops/ms"}}]`,
			map[string]float64{"throughput": 5000}},
		"lines,unit=ms": {"# note\n1\n2\n\n3\n4\n", map[string]float64{"p50": 2e-3, "p99": 4e-3, "max": 4e-3, "mean": 2.5e-3,
			"count": 4}},
		// The second was due at 1 and began at 10, because the first took so long: it took 10, not
		// 1.
		"lines,unit=s":                  {"0 0 10\n1 10 1\n20 20 1\n", map[string]float64{"p50": 10, "max": 10, "mean": 7}},
		"jsonl,unit=s,time=at,due=plan": {`{"plan":1,"at":10,"latency":1}`, map[string]float64{"p50": 10}},
		"jsonl,unit=us,field=took": {"starting\n{\"took\": 7}\n{\"other\": 1}\n{\"took\": 9}\n",
			map[string]float64{"p50": 7e-6, "max": 9e-6, "count": 2}},
	} {
		l, err := ParseLatency(strings.TrimSuffix(name, ","))
		if err != nil {
			t.Fatal(err)
		}
		found, err := latencyReaders()[l.Format](l, strings.NewReader(each.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		values := found.metrics(l)
		for metric, want := range each.want {
			if got := values[metric]; math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s: %s is %v, want %v", name, metric, got, want)
			}
		}
	}
}

func TestBadLatencies(t *testing.T) {
	for name, text := range map[string]string{
		"wrk": "nothing", "hey": "", "redis": redisText + redisText, "jmh": "{}", "lines,unit=s": "1\nx\n",
		"jsonl,unit=s": "{}\n", "lines,unit=ms": "1\n2 3\n", "lines,unit=us": "-1\n",
		"jsonl,unit=us,time=at": `{"latency": 1}`, "lines,unit=ns": "1 2 3 4\n",
	} {
		l, err := ParseLatency(name)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := latencyReaders()[l.Format](l, strings.NewReader(text)); err == nil {
			t.Errorf("%s: %q gives %+v", name, text, found)
		}
	}
	for _, text := range []string{"", "csv", "lines", "lines,unit=h", "wrk,limit=1ms", "lines,unit=s,limit=-1s",
		"hey,field=x",
		"lines,unit=s,percentiles=0", "lines,unit=s,percentiles=a", "lines,unit=s,x=y", "jsonl,unit=s,due=a"} {
		if l, err := ParseLatency(text); err == nil {
			t.Errorf("%q: %+v", text, l)
		}
	}
}

// Five threads behind one mutex make five slow calls of one wait: one stall.
func TestStalls(t *testing.T) {
	l, err := ParseLatency("lines,unit=ms,limit=10ms")
	if err != nil {
		t.Fatal(err)
	}
	text := "0 1\n100 95\n101 94\n110 85\n" + // one stall of 95 ms
		"203 20\n" + // follows within the limit: the same stall
		"400 50\n" + // another
		"400 9\n440 30\n" + // overlaps it by 10
		"900 10\n" // at the limit: no stall
	found, err := readLines(l, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	values := found.metrics(l)
	if values["stalls"] != 2 || math.Abs(values["stalled"]-(0.095+0.020+0.050+0.020)) > 1e-9 {
		t.Errorf("%v stalls of %v s", values["stalls"], values["stalled"])
	}
	if over := values["over"]; math.Abs(over-6.0/9) > 1e-12 {
		t.Errorf("share over the limit %v", over)
	}
}

func FuzzLatencies(f *testing.F) {
	for _, text := range []string{wrkText, heyText, redisText, jmhText, "1 2\n", `{"latency":1}`} {
		f.Add(text)
	}
	l := &Latency{Unit: "us", Limit: 1e-3, Percentiles: usualPercentiles()}
	f.Fuzz(func(t *testing.T, text string) {
		for name, read := range latencyReaders() {
			found, err := read(l, strings.NewReader(text))
			if err != nil {
				continue
			}
			for metric, value := range found.metrics(l) {
				if math.IsNaN(value) || value < 0 {
					t.Errorf("%s: %s is %v", name, metric, value)
				}
			}
		}
	})
}
