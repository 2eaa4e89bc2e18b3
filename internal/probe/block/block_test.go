package block

import (
	"slices"
	"testing"

	"culprit/recording"
)

// What several CPUs counted of one submitter is one row, with what is still under way.
func TestTableAddsUp(t *testing.T) {
	rows := table{rows: map[rowKey]*recording.Block{}, names: map[uint32]string{7 << 20: "disk"}}
	key := blockTotalKey{Device: 7 << 20, Operation: 1, Tgid: 42}
	first := blockTotal{Bytes: 100, TotalNs: 3000, MaxNs: 2000, QueueNs: 5, MaxDepth: 2}
	first.Buckets[10], first.Comm[0] = 2, 'x'
	second := blockTotal{Bytes: 50, TotalNs: 1000, MaxNs: 1000, MaxDepth: 4, Target: 1}
	second.Buckets[9] = 1
	rows.add(key, &first)
	key.Cpu = 1
	rows.add(key, &second)
	rows.addFlight(&blockFlight{Device: 7 << 20, Operation: 1, Tgid: 42, Bytes: 7, Issued: 30,
		Inserted: 10, Depth: 1}, 4096)
	rows.add(blockTotalKey{Device: 7 << 20, Operation: 9, Tgid: 42}, &blockTotal{})
	got := rows.sorted()
	if len(got) != 2 || got[1].Operation != "other" {
		t.Fatalf("%+v", got)
	}
	row := got[0]
	if row.Device != "disk" || row.Operation != "write" || row.Comm != "x" || !row.Target || row.Count != 4 ||
		row.Bytes != 157 || row.TotalNs != 8096 || row.MaxNs != 4096 || row.QueueNs != 25 || row.MaxDepth != 4 {
		t.Errorf("%+v", row)
	}
	if !slices.Equal(row.Buckets[9:13], []int64{1, 2, 0, 1}) {
		t.Errorf("buckets %v", row.Buckets)
	}
}

// A piece of I/O that is let go ends the sleep that began first of those under way; each ends one.
func TestSleepsAreTakenInTurn(t *testing.T) {
	waits := sleepsForDisk([]recording.Wait{
		{TimeNs: 30, BlockedNs: 100, State: "D", Tid: 3},
		{TimeNs: 10, BlockedNs: 100, State: "D", Tid: 1},
		{TimeNs: 5, BlockedNs: 500, State: "S", Tid: 9},
		{TimeNs: 0, BlockedNs: 20, State: "D", Tid: 8},
	})
	for _, want := range []struct {
		at  int64
		tid int32
	}{{9, 8}, {25, 1}, {28, 0}, {50, 3}, {60, 0}} {
		var tid int32
		if wait := waits.take(want.at); wait != nil {
			tid = wait.Tid
		}
		if tid != want.tid {
			t.Errorf("at %d the sleep of thread %d, want %d", want.at, tid, want.tid)
		}
	}
}
