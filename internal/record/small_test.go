package record

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// A recorder is spread over two CPUs, over one where its user says so or where the host that it
// records has few.
func TestFewCPUs(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, test := range []struct {
		wholeHost        bool
		cpus, most, want int
	}{
		{false, 64, 64, spreadAtMost}, {false, 2, 2, 2}, {false, 64, 1, 1},
		{true, 2, 2, 1}, {true, aloneUpTo, aloneUpTo, 1}, {true, aloneUpTo + 1, aloneUpTo + 1, spreadAtMost},
		{true, 64, 1, 1},
	} {
		runtime.GOMAXPROCS(test.most)
		Options{WholeHost: test.wholeHost}.keepToFew(test.cpus)
		if taken := runtime.GOMAXPROCS(0); taken != test.want {
			t.Errorf("%+v: it takes %d", test, taken)
		}
	}
}

// residentImage is how much of this program's own file is in its memory, in kB, but for what it
// writes to.
func residentImage(t *testing.T) (kB int) {
	t.Helper()
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	own := false
	for line := range strings.Lines(string(text)) {
		var part int
		switch {
		case strings.Contains(line, "-") && strings.Contains(line, " r"):
			own = strings.HasSuffix(strings.TrimSpace(line), self) && !strings.Contains(line, " rw-p ")
		case own && strings.HasPrefix(line, "Rss:"):
			if _, err := fmt.Sscanf(line, "Rss: %d kB", &part); err != nil {
				t.Fatal(err)
			}
			kB += part
		}
	}
	return kB
}

// A program goes on without the pages of its own file that it does not need, and they come back.
func TestReleaseImage(t *testing.T) {
	before := residentImage(t)
	releaseImage()
	if after := residentImage(t); after >= before || before == 0 {
		t.Errorf("%d kB of the program are in memory, %d kB before", after, before)
	}
}

// While a part is named and written less garbage may lie about, afterwards as much as before.
func TestEndSmall(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	done := Options{}.endSmall()
	within := debug.SetGCPercent(endingGCPercent)
	done()
	if after := debug.SetGCPercent(100); within != endingGCPercent || after != 100 {
		t.Errorf("the collector ran at %d %% and then at %d %%", within, after)
	}
}
