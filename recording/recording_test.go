package recording

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// example is a small recording with every table and every kind of value in it.
func example() *Recording {
	builder := NewBuilder()
	root := builder.Frame(Frame{Name: "main", Kind: KindNative, Module: "server", BuildID: "ab12"})
	write := builder.Frame(Frame{Name: "write", Kind: KindNative, Module: "libc.so.6"})
	kernel := builder.Frame(Frame{Name: "ksys_write", Kind: KindKernel})
	python := builder.Frame(Frame{Name: "größe", Kind: KindPython, File: "a.py", Line: 7})
	working := builder.Stack([]int32{root, python})
	writing := builder.Stack([]int32{root, write, kernel})
	r := &Recording{
		Manifest: Manifest{
			Schema: SchemaVersion, Program: "culprit 1", Host: "h", Kernel: "6.18",
			StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), WindowNs: 1e10,
			Target: Target{Kind: "command", Command: "./server"}, Hz: 99, SliceNs: 1e8,
			Probes: []ProbeStatus{{Name: "cpu", On: true}, {Name: "syscalls", Why: "no BPF"}},
			Losses: []Loss{{What: "waits", Count: 3}},
			Cost:   Cost{RecorderCPUNs: 5, StartCPUNs: 6, BPFNs: map[string]int64{"on_switch": 7}},
			BlindSpots: []BlindSpot{{Kind: BlindProbe,
				What: "syscalls", Why: "no BPF"}}, Metrics: map[string]float64{"wall": 1.5},
		},
		Facts: []Fact{{Name: "clocksource.current", Value: "tsc", Source: "/sys/…"}},
		Samples: []Sample{
			{Signal: SignalCPU, TimeNs: 5, Pid: 1, Tid: 2, CPU: 3, Stack: working, Count: 4, ValueNs: 40, Target: true,
				Comm: "server"},
			{Signal: SignalOffCPU, Pid: 9, Stack: NoStack, Count: 1, ValueNs: 1 << 40, Comm: "other"},
		},
		Syscalls: []Syscall{
			{Pid: 1, Comm: "server", Name: "write", Count: 3, Errors: 1, Bytes: 9, TotalNs: 99, Buckets: []int64{0, 0, 3}},
			{Pid: 1, Comm: "server", Name: "getpid", Count: 1},
		},
		Waits: []Wait{{TimeNs: -4, BlockedNs: 5, RunqueueNs: 6, Pid: 1, Tid: 2, State: "S", Syscall: "futex",
			Object: 1<<63 + 1, Stack: writing, WakerKind: WakerThread, WakerPid: 1, WakerTid: 3, WakerComm: "w",
			WakerStack: NoStack, HopNs: 7, HopStack: writing, HopComm: "jbd2/vda-8"}},
		Processes: []Process{{Pid: 1, Ppid: 2, StartNs: 3, EndNs: 4, Comm: "server", Command: "/bin/server", Execs: 1,
			CPUNs: 5, ExitCode: -9}},
		Threads: []Thread{{Pid: 1, Tid: 2, Comm: "t", StartNs: 1, EndNs: 2, CPUNs: 3, RunqueueNs: 4, Voluntary: 5,
			Involuntary: 6, Migrations: 7}},
	}
	builder.Into(r)
	return r
}

// large is a recording as an hour on a busy host might give.
func large(samples, stacks int) *Recording {
	random := rand.New(rand.NewPCG(1, 2))
	builder := NewBuilder()
	ids := make([]int32, stacks)
	for i := range ids {
		frames := make([]int32, 0, 40)
		for depth := range 10 + random.IntN(30) {
			frames = append(frames, builder.Frame(Frame{Name: fmt.Sprintf("function_%d_%d", depth, random.IntN(1+depth*8)),
				Kind: KindNative, Module: "libexample.so", BuildID: "0123456789abcdef", File: "file.c", Line: int32(depth)}))
		}
		ids[i] = builder.Stack(frames)
	}
	r := &Recording{}
	for i := range samples {
		r.Samples = append(r.Samples, Sample{Signal: SignalCPU, TimeNs: int64(i) / 10 * 1e8, Pid: 100 + random.Int32N(5),
			Tid: 100 + random.Int32N(50), CPU: random.Int32N(16), Stack: ids[random.IntN(stacks)], Count: 1,
			ValueNs: 10101010, Target: true, Comm: fmt.Sprintf("worker-%d", random.IntN(20))})
	}
	builder.Into(r)
	return r
}

func encoded(t testing.TB, r *Recording) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := Encode(&file, r); err != nil {
		t.Fatalf("encode: %v", err)
	}
	return file.Bytes()
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.culprit")
	want := example()
	if err := Write(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	requireEqual(t, want, got)
	if names := got.StackNames(got.Waits[0].Stack); !reflect.DeepEqual(names, []string{"main", "write", "ksys_write"}) {
		t.Errorf("stack of the wait: %q", names)
	}
	// What was read can be written again: the same bytes but for nothing.
	if !bytes.Equal(encoded(t, want), encoded(t, got)) {
		t.Error("written again it is another file")
	}
}

// requireEqual compares table by table; an empty list and none are the same in Parquet.
func requireEqual(t *testing.T, want, got *Recording) {
	t.Helper()
	a, b := reflect.ValueOf(*want), reflect.ValueOf(*got)
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		left, right := fmt.Sprintf("%+v", a.Field(i)), fmt.Sprintf("%+v", b.Field(i))
		if left != right {
			if len(left) > 2000 {
				left, right = "(long)", "(long)"
			}
			t.Errorf("%s: wrote %s, read %s", name, left, right)
		}
	}
}

func TestRoundTripOfManyRows(t *testing.T) {
	want := large(3*rowsPerBatch+7, 2000)
	file := encoded(t, want)
	got, err := Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	want.Manifest.Schema = SchemaVersion
	requireEqual(t, want, got)
}

func TestRoundTripOfAnEmptyRecording(t *testing.T) {
	file := encoded(t, &Recording{})
	got, err := Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Manifest.Schema != SchemaVersion || len(got.Frames)+len(got.Samples)+len(got.Facts) != 0 {
		t.Errorf("read %+v", got)
	}
}

func TestInvalidTextIsMadeValid(t *testing.T) {
	r := example()
	r.Samples[0].Comm = "bad\xff\xfename"
	file := encoded(t, r)
	if r.Samples[0].Comm != "bad\xff\xfename" {
		t.Error("writing changed the caller's recording")
	}
	got, err := Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Samples[0].Comm != "bad?name" {
		t.Errorf("read %q", got.Samples[0].Comm)
	}
}

func BenchmarkEncode(b *testing.B) {
	r := large(100_000, 5_000)
	var file bytes.Buffer
	for b.Loop() {
		file.Reset()
		if err := Encode(&file, r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(file.Len()), "bytes/file")
}

func BenchmarkRead(b *testing.B) {
	file := encoded(b, large(100_000, 5_000))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(file), int64(len(file))); err != nil {
			b.Fatal(err)
		}
	}
}
