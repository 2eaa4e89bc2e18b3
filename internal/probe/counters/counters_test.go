package counters

import (
	"os"
	"testing"
	"time"

	"culprit/internal/probe/counters/event"
)

func open(t *testing.T, options Options, names string) *Meter {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("loading BPF programs needs root")
	}
	list, err := event.Parse(names, event.Host)
	if err != nil {
		t.Fatal(err)
	}
	options.Events = list
	meter, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(meter.Close)
	return meter
}

func TestSumsEqualTheCPUs(t *testing.T) {
	const names = "task-clock,cpu-clock,context-switches,page-faults,minor-faults,cpu-migrations,msr/tsc/,sched:sched_waking"
	for by, name := range map[By]string{ByCgroup: "cgroup", ByProcess: "process", ByThread: "thread"} {
		t.Run(name, func(t *testing.T) {
			meter := open(t, Options{By: by}, names)
			if err := meter.Begin(); err != nil {
				t.Fatal(err)
			}
			before, err := meter.CPUs()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(2*time.Second)
			rows, err := meter.Read()
			if err != nil {
				t.Fatal(err)
			}
			after, err := meter.CPUs()
			if err != nil {
				t.Fatal(err)
			}
			for i, event := range meter.options.Events {
				var booked, counted uint64
				for _, row := range rows {
					booked += row.Counts[i].Value
				}
				for cpu := range after {
					counted += after[cpu][i].Value - before[cpu][i].Value
				}
				t.Logf("%s: booked %d counted %d ratio %.5f", event.Name, booked, counted, float64(booked)/float64(counted))
			}
			lost, err := meter.Lost()
			t.Log(len(rows), "rows", lost, err)
			for key, row := range rows {
				t.Log(key, *row)
			}
		})
	}
}
