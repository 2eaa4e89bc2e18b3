package tail

import (
	"slices"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/recording"
)

// A JVM stops its threads for what its VM Thread is at, by where it runs or waits for the threads
// the collector. Only what the program's garbage brings about is mended by less garbage.
func TestStoppedFor(t *testing.T) {
	for name, each := range map[string]struct {
		doit    string
		waits   bool
		place   string
		garbage bool
	}{
		"jcmd asks": {doit: "VM_GC_HeapInspection::doit()", place: "VM_GC_HeapInspection"},
		"garbage":   {doit: "VM_GenCollectForAllocation::doit", place: "VM_GenCollectForAllocation", garbage: true},
		"threads collect": {doit: "VM_G1CollectForAllocation::doit()", waits: true, place: "VM_G1CollectForAllocation",
			garbage: true},
		"a dump of threads": {doit: "VM_PrintThreads::doit()", place: "VM_PrintThreads"},
		"no symbols":        {doit: "libjvm.so+0x1234", garbage: true},
	} {
		rec := made(200, 20, func(_ int, request *recording.SlowRequest) []recording.RequestPart {
			return []recording.RequestPart{{Class: recording.PartLock, Syscall: "futex", TimeNs: request.TimeNs,
				LengthNs: 30e6, Stack: 2, WakerKind: recording.WakerThread, WakerPid: 7, WakerTid: 9, WakerComm: jvmStopper}}
		})
		for _, frame := range []string{"SafepointSynchronize::block", each.doit, "ContiguousSpace::object_iterate"} {
			rec.Frames = append(rec.Frames, recording.Frame{Name: frame, Kind: recording.KindNative, Module: "libjvm.so"})
		}
		rec.Stacks = append(rec.Stacks, recording.Stack{Frames: []int32{0, 3}}, recording.Stack{Frames: []int32{4, 5}})
		rec.Threads = []recording.Thread{{Pid: 7, Tid: 9, Comm: jvmStopper}}
		for _, request := range rec.SlowRequests[200:] {
			if each.waits {
				rec.Waits = append(rec.Waits, recording.Wait{Pid: 7, Tid: 9, TimeNs: request.TimeNs + 1e6, BlockedNs: 28e6,
					Stack: 3})
				continue
			}
			rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, Pid: 7, Tid: 9,
				TimeNs: request.TimeNs + 10e6, ValueNs: 20e6, Stack: 3})
		}
		got := first(t, rec)
		at := slices.IndexFunc(got.Where, func(place string) bool { return strings.HasPrefix(place, "stopped for ") })
		if got.Cause != cause.RuntimeGC || at > 0 || at < 0 != (each.place == "") || at == 0 &&
			got.Where[0] != "stopped for "+each.place {
			t.Errorf("%s: %s at %q, want %q", name, got.Cause, got.Where, each.place)
		}
		if garbage := strings.Contains(got.Remedy, "allocate less"); garbage != each.garbage {
			t.Errorf("%s: %s", name, got.Remedy)
		}
	}
}
