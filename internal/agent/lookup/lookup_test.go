package lookup

import (
	"os"
	"strings"
	"testing"
	"time"

	"culprit/internal/agent/spool"
	"culprit/internal/fleet/window"
	"culprit/recording"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// library keeps windows of each minute from 02:55 to 03:15 of two days; web uses more CPU time on
// the second.
func library(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	kept, err := spool.Open(folder, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	}()
	for day := range 2 {
		begin := time.Date(2026, 11, 22+day, 2, 55, 0, 0, time.UTC)
		for minute := range 20 {
			put(t, kept, begin.Add(time.Duration(minute)*time.Minute), int64(1+day)*1e9, minute != 7)
		}
	}
	return folder
}

func put(t *testing.T, kept *spool.Spool, start time.Time, cpuNs int64, web bool) {
	t.Helper()
	entry := kept.Next(start, window.Light)
	rec := &recording.Recording{Manifest: recording.Manifest{Host: "h", StartedAt: start, WindowNs: 60e9,
		Target: recording.Target{Kind: "host"}, Hz: 19}}
	builder := recording.NewBuilder()
	stack := builder.Stack([]int32{builder.Frame(recording.Frame{Name: "main", Kind: recording.KindNative})})
	builder.Into(rec)
	services := []window.Service{{Name: "db", CPUNs: 5e8, Pids: []int32{20, 21}}}
	pids := []int32{20, 21}
	if web {
		services = append(services, window.Service{Name: "web", CPUNs: cpuNs, Pids: []int32{10}})
		pids = append(pids, 10)
	}
	for _, pid := range pids {
		rec.Processes = append(rec.Processes, recording.Process{Pid: pid, Comm: "x", CPUNs: cpuNs})
		rec.Threads = append(rec.Threads, recording.Thread{Pid: pid, Tid: pid, CPUNs: cpuNs})
		rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, Pid: pid, Tid: pid, Stack: stack,
			Count: 1, ValueNs: cpuNs, Target: true})
	}
	if err := recording.Write(kept.Incoming(entry), rec); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(kept.Incoming(entry))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	id, size, err := window.ContentID(file)
	if err != nil {
		t.Fatal(err)
	}
	err = kept.Add(entry, &window.Window{Schema: window.Schema, Content: id, Bytes: size, Kind: window.Light, Host: "h",
		Sequence: entry.Sequence, Start: start, End: start.Add(time.Minute), LengthNs: 60e9, Services: services})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFindsWindowsOfAService(t *testing.T) {
	finder := Finder{Folder: library(t), Now: noon}
	found, err := finder.Names([]string{"agent:web@03:00..03:10", "agent:web@yesterday"})
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range found {
		if len(one.Windows) != 9 || one.Without != 1 {
			t.Errorf("%s: %d windows, %d without", one.Name, len(one.Windows), one.Without)
		}
		want := time.Date(2026, 11, 23-i, 3, 0, 0, 0, time.UTC)
		if got := one.Windows[0].Manifest.Start; !got.Equal(want) {
			t.Errorf("%s begins at %v", one.Name, got)
		}
		rec := one.Windows[0].Recording
		if len(rec.Processes) != 1 || len(rec.Threads) != 1 || rec.Manifest.Target.Words() != "service web" {
			t.Errorf("%s: %d processes of %s", one.Name, len(rec.Processes), rec.Manifest.Target.Words())
		}
		for _, sample := range rec.Samples {
			if sample.Target != (sample.Pid == 10) || !sample.Target && sample.Stack != recording.NoStack {
				t.Errorf("sample %+v", sample)
			}
		}
		if len(one.Notes()) != 1 || !strings.Contains(one.Notes()[0], "1 windows of that time without web") {
			t.Errorf("notes %q", one.Notes())
		}
	}
	whole, err := found[0].Whole()
	if err != nil {
		t.Fatal(err)
	}
	if whole.Manifest.WindowNs != 9*60e9 || len(whole.Manifest.Gaps) != 8 || whole.Manifest.Gaps[1].LengthNs != 60e9 {
		t.Errorf("the whole is %d ns long with gaps %+v", whole.Manifest.WindowNs, whole.Manifest.Gaps)
	}
	all, err := finder.Names([]string{"agent:*@03:00"})
	if err != nil || len(all[0].Windows) != 1 || len(all[0].Windows[0].Recording.Processes) != 3 {
		t.Errorf("all of the host at a time: %+v, %v", all, err)
	}
	day, err := finder.Names([]string{"agent:db@yesterday"})
	if err != nil || len(day[0].Windows) != 20 {
		t.Errorf("all of a day: %v", err)
	}
}

// Errors name what there is instead.
func TestSaysWhatThereIs(t *testing.T) {
	finder := Finder{Folder: library(t), Now: noon}
	for _, test := range []struct{ name, want string }{
		{"agent:shop@03:00..03:10", `no service "shop" in the 10 windows from 2026-11-23 03:00:00 to 2026-11-23 03:10:00; ` +
			"there were db, web"},
		{"agent:web@10:00..11:00", "those that are kept begin from 2026-11-22 02:55:00 to 2026-11-23 03:14:00"},
		{"agent:web@yesterday 20:00..21:00", "with none between 2026-11-22 03:14:00 and 2026-11-23 02:55:00"},
		{"agent:web@03:00..03:10,full", "no full window at all"},
		{"agent:web@03:00..03:10,fat", "give light or full"},
		{"agent:web@noon", `"noon" is no time`},
		{"agent:@03:00", "names no service"},
	} {
		_, err := finder.Names([]string{test.name})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	_, err := Finder{Folder: t.TempDir(), Now: noon}.Names([]string{"agent:web"})
	if err == nil || !strings.Contains(err.Error(), "no agent has recorded in") {
		t.Errorf("no agent: %v", err)
	}
}

// Files of windows are of one service by the manifests beside them; what is none says so.
func TestServiceOfAFile(t *testing.T) {
	folder := library(t)
	entries, err := spool.List(folder)
	if err != nil {
		t.Fatal(err)
	}
	path := spool.RecordingOf(folder, entries[0])
	for service, processes := range map[string]int{"web": 1, "db": 2, Everything: 3} {
		rec, err := OfFile(path, service)
		if err != nil || len(rec.Processes) != processes {
			t.Errorf("%s: %v, %v", service, rec, err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain := t.TempDir() + "/plain.culprit"
	if err := os.WriteFile(plain, text, 0o600); err != nil {
		t.Fatal(err)
	}
	torn := t.TempDir() + "/torn.culprit"
	manifest, err := os.ReadFile(strings.TrimSuffix(path, window.RecordingSuffix) + window.ManifestSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for name, bytes := range map[string][]byte{torn: text[:100],
		strings.TrimSuffix(torn, window.RecordingSuffix) + window.ManifestSuffix: manifest} {
		if err := os.WriteFile(name, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ path, service, want string }{
		{path, "shop", `no service "shop" in this window; there were db, web`},
		{plain, "web", "is no window of a host: --service needs its manifest beside it"},
		{torn, "web", "has 100 bytes"},
		{"/no/such.culprit", "web", "is no window of a host"},
	} {
		if _, err := OfFile(test.path, test.service); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.path, err, test.want)
		}
	}
}
