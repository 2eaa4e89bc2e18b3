package agent

import (
	"strings"
	"testing"
	"time"
)

// model is a host on which a window takes a fixed part and one for each sample.
type model struct{ fixed, perHz float64 } // seconds of CPU time a minute

// play runs a budget on a host for some minutes, and tells what it took in the second half, as a
// share of the host, and how many windows there were.
func play(b *budget, m model, minutes int) (share float64, windows int) {
	total := 0.0
	for minute := range minutes {
		if !b.affords() {
			b.rest(0, time.Minute)
			continue
		}
		took := m.fixed + m.perHz*float64(b.hz())
		b.spend(time.Duration(took*1e9), time.Minute)
		if minute >= minutes/2 {
			total += took
			windows++
		}
	}
	return total / (float64(minutes/2) * 60 * float64(b.cpus)), windows
}

func TestBudgetIsKept(t *testing.T) {
	const minutes = 2000
	for _, test := range []struct {
		name     string
		m        model
		hz       int
		least    int // windows in the second half
		overMost float64
	}{
		{"a quiet host", model{0.2, 0.001}, 19, minutes / 2, 1},
		{"a lower rate is enough", model{0.2, 0.03}, 13, minutes / 2, 1},
		{"no rate is enough", model{1.2, 0.03}, 5, minutes / 5, 1.001},
		{"a host that builds all day", model{6, 0.5}, 5, minutes / 40, 1.01},
	} {
		b := newBudget(0.005, 2)
		share, windows := play(b, test.m, minutes)
		if share > 0.005*test.overMost || windows < test.least || b.hz() != test.hz {
			t.Errorf("%s: %.3f %% of the host, %d windows, %d Hz", test.name, 100*share, windows, b.hz())
		}
	}
}

// The rate comes back when the host is quiet again.
func TestBudgetRecovers(t *testing.T) {
	b := newBudget(0.005, 2)
	play(b, model{0.2, 0.1}, 500)
	if b.hz() == 19 {
		t.Fatal("the rate was not lowered")
	}
	if _, windows := play(b, model{0.1, 0.001}, 400); b.hz() != 19 || windows != 200 {
		t.Errorf("%d Hz, %d windows of 200 when the host is quiet again", b.hz(), windows)
	}
}

// Loading the recorder, which takes what some minutes may, leaves no window out.
func TestBudgetPaysTheStart(t *testing.T) {
	b := newBudget(0.005, 2)
	b.spend(6*time.Second, time.Minute)
	if !b.affords() {
		t.Error("after the start there is no window")
	}
}

func TestBudgetTellsWhatItDid(t *testing.T) {
	b := newBudget(0.005, 2)
	told := ""
	for range 100 {
		if did, why := b.spend(2*time.Second, time.Minute); did != "" {
			told = did + ": " + why
			break
		}
	}
	want := "13 instead of 19 samples a second: the last window took 1.67 % of the host where 0.50 % are allowed"
	if told != want {
		t.Errorf("told %q, want %q", told, want)
	}
	if none := newBudget(0, 2); !none.affords() {
		t.Error("without a limit there is one")
	} else if did, _ := none.spend(time.Hour, time.Minute); did != "" || !none.affords() {
		t.Error("without a limit something is given up")
	}
}

func TestWindowsEndAtTheEdge(t *testing.T) {
	at := func(text string) time.Time {
		t.Helper()
		moment, err := time.Parse(time.TimeOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment.AddDate(2026, 0, 0)
	}
	for text, want := range map[string]time.Duration{"03:00:00": time.Minute, "03:00:20": 40 * time.Second,
		"03:00:31": 89 * time.Second, "03:00:59": 61 * time.Second} {
		if got := untilEdge(at(text), time.Minute); got != want {
			t.Errorf("from %s a window is %v long, want %v", text, got, want)
		}
	}
}

func TestClocks(t *testing.T) {
	start := moment{wall: time.Unix(1000, 0), monotonic: 50 * time.Second, boot: 50 * time.Second}
	for _, test := range []struct {
		name                   string
		wall, monotonic, boot  time.Duration // since then
		length, set, suspended time.Duration
	}{
		{"nothing", 60e9, 60e9, 60e9, 60e9, 0, 0},
		{"set back", -3540e9, 60e9, 60e9, 60e9, -3600e9, 0},
		{"set forward", 3660e9, 60e9, 60e9, 60e9, 3600e9, 0},
		{"suspended", 660e9, 60e9, 660e9, 60e9, 0, 600e9},
		{"both", 4260e9, 60e9, 660e9, 60e9, 3600e9, 600e9},
		{"wander", 60e9 + 1e6, 60e9, 60e9 + 2e6, 60e9, 0, 0},
	} {
		end := moment{wall: start.wall.Add(test.wall), monotonic: start.monotonic + test.monotonic,
			boot: start.boot + test.boot}
		length, set, suspended := end.since(start)
		if length != test.length || set != test.set || suspended != test.suspended {
			t.Errorf("%s: length %v, set %v, suspended %v", test.name, length, set, suspended)
		}
	}
}

func TestLabels(t *testing.T) {
	path := t.TempDir() + "/labels"
	writeFile(t, path, "# of this host\nzone=eu-1\n\nweb: version=1.4.2\n\nkube-system/dns: version = x\n")
	if _, err := readLabels(path); err == nil || !strings.Contains(err.Error(), "line 6") {
		t.Errorf("a key with a space: %v", err)
	}
	writeFile(t, path, "zone=eu-1\nweb: version=1.4.2\nweb: team=shop: a\nkube-system/dns: url=http://x\n")
	read, err := readLabels(path)
	if err != nil || read.host["zone"] != "eu-1" || read.services["web"]["version"] != "1.4.2" ||
		read.services["web"]["team"] != "shop: a" || read.services["kube-system/dns"]["url"] != "http://x" {
		t.Errorf("read %+v, %v", read, err)
	}
	for _, wrong := range []string{"zone", "=x", "a b=c", "k=\x1b[0m", strings.Repeat("k", 70) + "=v"} {
		if _, _, err := ParseLabel(wrong); err == nil {
			t.Errorf("label %q is taken", wrong)
		}
	}
}
