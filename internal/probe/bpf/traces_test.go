package bpf

import (
	"testing"

	"culprit/internal/probe/unwind"
)

func TestTracesByThread(t *testing.T) {
	w := &Window{Traces: []unwind.Trace{{Tid: 1, KtimeNs: 30}, {Tid: 2, KtimeNs: 5}, {Tid: 1, KtimeNs: 10},
		{Tid: 1, KtimeNs: 20, LeftCPU: true}}}
	all, sampled := w.TracesByThread(), w.SampledByThread()
	for _, test := range []struct {
		of       ThreadTraces
		from, to int64
		want     int64 // 0: none
	}{
		{all, 0, 100, 10}, {all, 10, 10, 10}, {all, 11, 100, 20},
		{sampled, 11, 100, 30}, {all, 11, 19, 0}, {all, 31, 99, 0},
	} {
		got := int64(0)
		if trace := test.of.First(1, test.from, test.to); trace != nil {
			got = trace.KtimeNs
		}
		if got != test.want {
			t.Errorf("from %d to %d: %d, want %d", test.from, test.to, got, test.want)
		}
	}
	if all.Unclaimed(1, 11, 100) != nil || all.Unclaimed(1, 21, 100) == nil {
		t.Error("a stack that another probe has claimed is given, or one that none has is not")
	}
	for _, test := range []struct{ from, to, want int64 }{
		{0, 100, 3}, {10, 30, 2}, {11, 20, 0}, {40, 50, 0}, {30, 10, 0},
	} {
		if got := len(all.Within(1, test.from, test.to)); got != int(test.want) {
			t.Errorf("within %d to %d: %d, want %d", test.from, test.to, got, test.want)
		}
	}
	if all.First(3, 0, 100) != nil {
		t.Error("a stack of a thread that has none")
	}
}
