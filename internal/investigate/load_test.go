package investigate

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"culprit/internal/trial"
)

// lineServer answers each line after some work; a load sends lines and prints what wrk would. The
// server works for so many rounds.
func lineServer(rounds int) string {
	return fmt.Sprintf(`exec python3 -c "
import socketserver
class H(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            x = 0
            for i in range(%d): x += i
            self.wfile.write(b'ok\\n')
socketserver.TCPServer.allow_reuse_address = True
socketserver.TCPServer(('127.0.0.1', {port}), H).serve_forever()"`, rounds)
}

func lineLoad(count, failed int) *trial.Load {
	return &trial.Load{Command: fmt.Sprintf(`exec python3 -c "
import socket, time
s = socket.create_connection(('127.0.0.1', {port})); f = s.makefile('rw')
begun = time.time()
for i in range(%[1]d):
    f.write('x\\n'); f.flush(); f.readline()
took = time.time() - begun
print('  %[1]d requests in %%.2fs, 1MB read' %% took)
print('  Non-2xx or 3xx responses: %[2]d')
print('Requests/sec: %%.2f' %% (%[1]d / took))"`, count, failed)}
}

// A server that works more for each request is worse by CPU time per request, and so it is when
// more requests are served.
func TestServersAreComparedPerRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers: -short leaves it out")
	}
	o := plain(t, lineServer(500), lineServer(4000))
	o.Budget, o.Load = 25*time.Second, lineLoad(300, 0)
	c, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome != Worse || c.Per != "request" || len(c.Metrics) != 2 {
		t.Fatalf("outcome %s per %s, metrics %+v", c.Outcome, c.Per, c.Metrics)
	}
	// Which of the two is told first depends on which is the more certain.
	cpu, throughput := c.Metrics[0], c.Metrics[1]
	if cpu.Metric.Name != trial.MetricCPU {
		cpu, throughput = throughput, cpu
	}
	if cpu.Metric.Name != trial.MetricCPU || cpu.Outcome != Worse || cpu.MedianA > 1e-3 || cpu.MedianA <= 0 {
		t.Errorf("CPU time per request: %+v", cpu)
	}
	if throughput.Metric.Name != trial.MetricThroughput || throughput.Metric.Better != higherIsBetter {
		t.Errorf("throughput: %+v", throughput)
	}
	if c.Profile != nil && len(c.Suspects) > 0 && !strings.HasPrefix(string(c.Suspects[0].Cause), "code.") {
		t.Errorf("first suspect %s", c.Suspects[0].Cause)
	}
}

func TestBadLoads(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"3 of 20 requests failed": func(o *Options) { o.Load = lineLoad(20, 3) },
		"does not print it":       func(o *Options) { o.Load, o.Metric = lineLoad(20, 0), MetricChoice{Name: "p99"} },
		"give --load CMD":         func(o *Options) { o.Load, o.Metric = nil, MetricChoice{Name: "p99"} },
		"does not take it":        func(o *Options) { o.A = "sleep 1" },
	} {
		o := plain(t, lineServer(10), lineServer(10))
		o.Load = lineLoad(20, 0)
		change(&o)
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A server on two CPUs: what its CPU time grew by is by the clock half of that. Requests that grew
// by more than that wait for each other.
func TestLatencyLeadsWhereItGrewByMoreThanTheCPUTime(t *testing.T) {
	for latency, want := range map[float64]string{0.00302: "latency", 0.00276: trial.MetricCPU} {
		run := trial.Run{Side: sideA, Kind: trial.KindMeasure, Valid: true,
			Metrics: map[string]float64{trial.MetricThroughput: 2600}}
		inv := &investigation{options: Options{Load: &trial.Load{}}, runs: []trial.Run{run}, c: &Case{Metrics: []MetricResult{
			{Metric: Metric{Name: trial.MetricCPU}, Outcome: Worse, MedianA: 664e-6, MedianB: 767e-6},
			{Metric: Metric{Name: "latency"}, Outcome: Worse, MedianA: 0.00238, MedianB: latency}}}}
		if inv.choose(); inv.c.Metric.Name != want {
			t.Errorf("latency 2.38 ms to %g s: %s leads, want %s", latency, inv.c.Metric.Name, want)
		}
	}
}
