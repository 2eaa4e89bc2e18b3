package format

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// The forms in which bpftrace prints keys: two stacks, leaf first, with a name; numbers; none;
// statistics.
func TestBpftrace(t *testing.T) {
	text := "Attaching 3 probes...\n\n@[\n    vfs_read+570\n    entry_SYSCALL_64_after_hwframe+118\n, \n" +
		"    read+12\n    main+4\n, web]: 3\n@[, \n    main+9\n, web]: 2\n@[\n\tffffffff81 vfs_write+0x1f (kernel)\n" +
		"\tffffffff82 do_syscall_64+3 (kernel)\n, web]: 1\n" +
		"@bytes[web, 7]: 4096\n@lost: 5\n@below: -3\n@t[web]: count 4, average 10, total 41\n\n@us[web]: \n" +
		"[0]                    2 |@@@@    |\n[1K, 2K)               7 |@@@@@@@@|\n(..., 0)               1 |        |\n\n"
	rec := importText(t, "x", []byte(text), Options{Period: time.Second / 49})
	for signal, want := range map[string]string{
		recording.SignalCPU: "web;do_syscall_64_[k];vfs_write_[k] 1\nweb;main 2\n" +
			"web;main;read;entry_SYSCALL_64_after_hwframe_[k];vfs_read_[k] 3\n",
		"bytes": "web;7 4096\n", "lost": "[unknown] 5\n", "t count": "web 4\n", "t total": "web 41\n",
		"us": "web;(..., 0) 1\nweb;[0] 2\nweb;[1K, 2K) 7\n"} {
		if got := string(export(t, rec, AsFolded, signal)); got != want {
			t.Errorf("%s: %q, want %q", signal, got, want)
		}
	}
	if cpu := rec.Manifest.Metrics["cpu"]; cpu < 6/49.01 || cpu > 6/48.99 {
		t.Errorf("%g s of CPU", cpu)
	}
	want := []recording.Loss{{What: "bpftrace: values below zero", Count: 1}}
	if !reflect.DeepEqual(rec.Manifest.Losses, want) {
		t.Errorf("lost %v", rec.Manifest.Losses)
	}
	waits := importText(t, "x", []byte("@us[\n    main+4\n, web]: 300\n"), Options{Signal: recording.SignalOffCPU})
	if got := string(export(t, waits, AsFolded, recording.SignalOffCPU)); got != "web;main 300\n" {
		t.Errorf("waits %q", got)
	}
}

// Of several maps of stacks none is taken for CPU time.
func TestBpftraceOfTwoMaps(t *testing.T) {
	rec := importText(t, "x", []byte("@a[\n    main+4\n]: 3\n@b[\n    main+4\n]: 2\n"), Options{})
	if got := signalsOf(rec); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("signals %v", got)
	}
	for text, want := range map[string]string{
		"Attaching 1 probe...\n":                   "no map found",
		`{"type": "map", "data": {"@": {"a": 1}`:   "cut off",
		`{"type": "map", "data": [1]}`:             "damaged",
		`{"type": "printf", "data": "@ is not 1"}`: "no map found",
	} {
		_, err := Import([]Source{{Name: "x", Reader: bytes.NewReader([]byte(text))}}, Options{Format: Bpftrace})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzBpftrace(f *testing.F) { fuzz(f, Bpftrace, "bpftrace-*.txt") }
