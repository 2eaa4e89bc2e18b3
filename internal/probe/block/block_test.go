package block

import (
	"slices"
	"testing"

	"culprit/recording"
)

// What several CPUs counted of one submitter is one row, with what is still under way.
func TestTableAddsUp(t *testing.T) {
	rows := table{rows: map[blockTotalKey]*recording.Block{}, names: map[uint32]string{7 << 20: "disk"}}
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
