package compare_test

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/names"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// Go's run time naps for some microseconds while it looks for work (runtime.usleep): a nap and no
// ticker, however regular.
func TestNapsOfGoAreNoTicks(t *testing.T) {
	const tickNs, ticks = int64(200_000), 3000
	for _, test := range []struct {
		name, call, stack, work string
		ticking                 bool
	}{
		{"a nap", "nanosleep", "g:runtime.runqgrab;runtime.usleep;k:__x64_sys_nanosleep", "g:main.work", false},
		{"a nap whose stack is lost", "nanosleep", "k:__x64_sys_nanosleep", "g:main.work", false},
		{"a sleep in C that is linked into it", "nanosleep", "g:runtime.racefini;__sanitizer_usleep;k:__x64_sys_nanosleep",
			"g:main.work", true},
		{"a timer of Go", "futex", "g:runtime.findRunnable;runtime.notetsleep;k:__x64_sys_futex", "g:main.work", true},
		{"a sleep in C", "nanosleep", "main;poll;k:__x64_sys_nanosleep", "main;work", true},
		{"a sleep in C whose stack is lost", "nanosleep", "k:__x64_sys_nanosleep", "main;work", true},
	} {
		m := newMade(float64(tickNs*ticks)/1e9, 0.1)
		for i := range int64(ticks) {
			m.rec.Waits = append(m.rec.Waits, recording.Wait{TimeNs: i * tickNs, BlockedNs: tickNs * 9 / 10, Pid: 10, Tid: 10,
				Syscall: test.call, Stack: m.stack(test.stack), WakerKind: recording.WakerTimer, WakerStack: recording.NoStack})
		}
		m.rec.Samples = append(m.rec.Samples, recording.Sample{Signal: recording.SignalCPU, Pid: 10, Tid: 10, Count: 1,
			ValueNs: ms, Target: true, Stack: m.stack(test.work)})
		pool := names.New([]*recording.Recording{m.rec}, nil, nil)
		if _, ticking := timeline.New(m.rec, pool).ProcessTicks()[10]; ticking != test.ticking {
			t.Errorf("%s: ticking %v", test.name, ticking)
		}
		for _, wait := range comparedPair(t, compare.MetricWall, m.rec, m.rec).Waits {
			if wait.Nap == test.ticking {
				t.Errorf("%s: marked as a nap: %v", test.name, wait.Nap)
			}
		}
	}
}
