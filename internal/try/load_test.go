package try

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/internal/trial"
)

const lineServer = `exec python3 -c "
import socketserver
class H(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            x = 0
            for i in range({rounds}): x += i
            self.wfile.write(b'ok\\n')
socketserver.TCPServer(('127.0.0.1', {port}), H).serve_forever()"`

const lineLoad = `exec python3 -c "
import socket, time
s = socket.create_connection(('127.0.0.1', {port})); f = s.makefile('rw')
begun = time.time()
for i in range(60):
    f.write('x\\n'); f.flush(); f.readline()
took = time.time() - begun
print('  60 requests in %.2fs, 1MB read' % took)
print('Requests/sec: %.2f' % (60 / took))"`

// A placeholder of a server is varied under a load: CPU time is that of one request.
func TestServersUnderLoadAreTried(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers: -short leaves it out")
	}
	factor, err := ParseFactor("rounds=300,6000")
	if err != nil {
		t.Fatal(err)
	}
	e := Experiment{Command: NewCommand([]string{lineServer}), Factors: []Factor{factor}, Budget: 40 * time.Second,
		Seed: 1, Trials: 8, Load: &trial.Load{Command: lineLoad}}
	e.Metrics = []Metric{CPU}
	if e, err = e.Settle(); err != nil {
		t.Fatal(err)
	}
	result, err := Run(context.Background(), e, Options{Dir: filepath.Join(t.TempDir(), "case")})
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range result.Conditions {
		if median := condition.Metrics[CPU.Name].Median; !(median > 0) || median > 5e-3 {
			t.Errorf("%v: %g s of CPU time per request", condition.Levels, median)
		}
	}
	if result.Outcome != Worse {
		t.Errorf("outcome %s", result.Outcome)
	}
}

func TestLoadsThatCannotBeTried(t *testing.T) {
	load := &trial.Load{Command: "wrk http://localhost:{port}/"}
	for want, change := range map[string]func(*Experiment){
		"give --load":           func(e *Experiment) { e.Load, e.Metrics = nil, []Metric{{Name: "p99"}} },
		"does not take it":      func(e *Experiment) { e.Command = NewCommand([]string{"sleep {s}"}) },
		"leave --keep away":     func(e *Experiment) { e.Load.Keep, e.Factors[0].Kind = true, KindMonitor },
		"of recordings are not": func(e *Experiment) { e.Metrics = []Metric{{Name: "recording:runqueue"}} },
	} {
		factor, err := ParseFactor("s=1,2")
		if err != nil {
			t.Fatal(err)
		}
		its := *load
		e := Experiment{Command: NewCommand([]string{"server {port} {s}"}), Factors: []Factor{factor}, Load: &its}
		if e, err = e.Settle(); err != nil {
			t.Fatal(err)
		}
		change(&e)
		if err := e.checkLoad(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for text, higher := range map[string]bool{"throughput": true, "p99": false, "latency": false,
		"throughput,lower": false} {
		if metric, err := ParseMetric(text); err != nil || metric.Higher != higher {
			t.Errorf("%s: %+v, %v", text, metric, err)
		}
	}
}
