package record

import (
	"testing"
	"time"

	"culprit/recording"
)

// Another rate of samples is that many a second: thinning a recording once made them a hundred
// thousand.
func TestRateOfSamplesChanges(t *testing.T) {
	recorder := standing.get(t)
	h := running(t, programs.compile(t, "spin.c"), "60")
	for _, hz := range []int{49, 499} { // the last is the standing recorder's own
		got := watchFor(t, recorder, Target{Kind: "pid", Pid: h.pid(), Hz: hz}, 800*time.Millisecond)
		var samples, sampledNs, cpuNs int64
		for _, sample := range got.Samples {
			if sample.Signal == recording.SignalCPU && sample.Target {
				samples += sample.Count
				sampledNs += sample.ValueNs
			}
		}
		for _, process := range got.Processes {
			cpuNs += process.CPUNs
		}
		about(t, "samples", float64(samples), float64(cpuNs)/1e9*float64(hz), 0.5, 15)
		if got.Manifest.Hz != hz || sampledNs != samples*int64(time.Second/time.Duration(hz)) {
			t.Errorf("%d samples of %d ns at %d Hz, which the manifest says are %d Hz", samples, sampledNs, hz,
				got.Manifest.Hz)
		}
	}
}
