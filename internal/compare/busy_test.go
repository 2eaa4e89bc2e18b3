package compare_test

import (
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// The wall time of what runs on is what its working threads were busy with: waits for work are no
// time, and a thread that hardly runs is none that works.
func TestServiceIsBusyWithoutItsWaitsForWork(t *testing.T) {
	m := newMade(1, 0.2)
	m.rec.Manifest.Target.Kind = "pid"
	m.rec.Processes[0].EndNs = 0
	m.threadFrom(10, 11, 0).threadFrom(10, 12, 0)
	m.rec.Threads[0].CPUNs, m.rec.Threads[1].CPUNs, m.rec.Threads[2].CPUNs = 100*ms, 99*ms, ms
	m.rec.Threads[2].Comm = "flusher"
	m.runs(10, 10, 0, 100*ms, "main;work").runs(10, 11, 0, 99*ms, "main;work")
	wait := func(tid int32, at, length int64, call, stack string) {
		m.waits(recording.Wait{Pid: 10, Tid: tid, TimeNs: at, BlockedNs: length, Syscall: call,
			WakerKind: recording.WakerInterrupt}, stack)
	}
	wait(10, 100*ms, 400*ms, "epoll_wait", "main;loop;k:do_epoll_wait")
	wait(10, 500*ms, 50*ms, "fdatasync", "main;work;save;k:ext4_sync_file")
	wait(10, 600*ms, 300*ms, "read", "main;loop;k:tcp_recvmsg")
	wait(11, 100*ms, 30*ms, "read", "main;work;load;k:filemap_get_pages")
	wait(11, 200*ms, 700*ms, "futex", "main;pool;k:futex_wait")
	wait(12, 0, 900*ms, "fdatasync", "main;flusher;k:ext4_sync_file")
	results, err := compare.Compare([]*recording.Recording{m.rec}, nil, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	amounts, all := map[string]float64{}, 0.0
	for i := range results.Wall.Paths {
		path := &results.Wall.Paths[i]
		all += path.A[0]
		for _, name := range []string{"save", "load", "loop", "pool", "flusher"} {
			if has(name)(path) {
				amounts[name] += path.A[0]
			}
		}
	}
	near(t, "the sync", amounts["save"], 0.05)
	near(t, "the read of a file", amounts["load"], 0.03)
	near(t, "waits for work", amounts["loop"]+amounts["pool"], 0)
	near(t, "a thread that hardly runs", amounts["flusher"], 0)
	near(t, "all pieces", all, results.Wall.A[0])
	near(t, "the wall time", results.Wall.A[0], 0.199+0.08)
}
