package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"culprit/recording"
)

// Numbers of the host are there at the begin and at the end of a window, however short, and give
// true rates.
func TestHostMetrics(t *testing.T) {
	got := watchCommand(t, standing.get(t), "/bin/sh", "-c",
		"i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; sleep 1.2")
	type span struct{ first, last recording.Metric }
	numbers := map[[2]string]*span{}
	for _, row := range got.Metrics {
		key := [2]string{row.Name, row.Scope}
		if numbers[key] == nil {
			numbers[key] = &span{first: row}
		}
		if row.TimeNs < numbers[key].last.TimeNs || row.TimeNs < 0 || row.TimeNs > got.Manifest.WindowNs {
			t.Errorf("%+v comes after %+v, in a window of %d ns", row, numbers[key].last, got.Manifest.WindowNs)
		}
		numbers[key].last = row
	}
	grown := func(name string) float64 {
		number := numbers[[2]string{name, ""}]
		if number == nil {
			t.Fatalf("no %s in %d rows", name, len(got.Metrics))
		}
		if number.first.TimeNs != 0 || number.last.TimeNs != got.Manifest.WindowNs {
			t.Errorf("%s was read from %d to %d ns of %d", name, number.first.TimeNs, number.last.TimeNs,
				got.Manifest.WindowNs)
		}
		return number.last.Value - number.first.Value
	}
	// Ticks of 10 ms: the host has been busy for at least what the command used.
	if busy := grown("cpu.user_s") + grown("cpu.system_s"); busy < got.cpu.Seconds()-0.1 {
		t.Errorf("the host was busy for %.2f s, the command alone for %.2f s", busy, got.cpu.Seconds())
	}
	if grown("scheduler.switches") < 1 || grown("vm.faults") < 1 {
		t.Error("the host did not switch and had no fault")
	}
}

// When there are too many rows, readings get rarer, and no number loses its first and last value.
func TestMeterThins(t *testing.T) {
	tick := 0.0
	m := &meter{every: time.Second, limit: 50, done: make(chan struct{}), ended: make(chan struct{}),
		last: map[numberKey]float64{}}
	m.source = func(timeNs int64) []recording.Metric {
		tick++
		rows := []recording.Metric{{TimeNs: timeNs, Name: "grows", Value: tick},
			{TimeNs: timeNs, Name: "stands", Value: 7}}
		if tick >= 3 {
			rows = append(rows, recording.Metric{TimeNs: timeNs, Name: "once", Value: 1})
		}
		return rows
	}
	for i := range 500 {
		m.read(int64(i))
	}
	close(m.ended)
	rows := m.stop(500)
	seen := map[string][]recording.Metric{}
	for _, row := range rows {
		seen[row.Name] = append(seen[row.Name], row)
	}
	grows := seen["grows"]
	if len(rows) > 60 || len(grows) < 20 || grows[0].Value != 1 || grows[len(grows)-1].Value != 501 ||
		m.every < 8*time.Second {
		t.Errorf("%d rows, every %v: %+v", len(rows), m.every, grows)
	}
	for i := 1; i < len(grows); i++ {
		if grows[i].TimeNs <= grows[i-1].TimeNs || grows[i].Value <= grows[i-1].Value {
			t.Errorf("%+v after %+v", grows[i], grows[i-1])
		}
	}
	if len(seen["stands"]) != 2 || len(seen["once"]) < 1 {
		t.Errorf("what stands still has %d rows, what came later %d", len(seen["stands"]), len(seen["once"]))
	}
}

// What a beat reads between a window's end and the call that stops the meter is not the window's.
func TestMeterEndsWithTheWindow(t *testing.T) {
	m := &meter{startNs: 1000, limit: 50, done: make(chan struct{}), ended: make(chan struct{}),
		last: map[numberKey]float64{}}
	value := 0.0
	m.source = func(timeNs int64) []recording.Metric {
		value++
		return []recording.Metric{{TimeNs: timeNs, Name: "grows", Value: value}}
	}
	for _, at := range []int64{0, 400, 501} {
		m.read(at)
	}
	close(m.ended)
	var times []int64
	for _, row := range m.stop(1500) {
		times = append(times, row.TimeNs)
	}
	if want := []int64{0, 400, 500}; !slices.Equal(times, want) {
		t.Errorf("read at %v, want %v", times, want)
	}
}

// The cgroup of the target is metered, also when it is not the recorder's.
func TestGroupMetrics(t *testing.T) {
	recorder := standing.get(t)
	group := memoryGroup(t, 64<<20)
	h := hold(t, "dd", "if=/dev/zero", "of="+filepath.Join(t.TempDir(), "some"), "bs=1M", "count=8")
	if err := os.WriteFile(group+"/cgroup.procs", []byte(fmt.Sprint(h.pid())), 0); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Begin(t.Context(), Target{Kind: "command", Command: "dd", Pid: h.pid()}); err != nil {
		t.Fatal(err)
	}
	h.release()
	h.wait(t)
	got := endWindow(t, recorder)
	scope := fmt.Sprintf("/culprit-test-%d", os.Getpid())
	for _, row := range got.Metrics {
		if row.Name == "cgroup.memory.used_bytes" && row.Scope == scope && row.Value > 0 && row.Value <= 64<<20 {
			return
		}
	}
	t.Errorf("no memory of %s among %d numbers", scope, len(got.Metrics))
}
