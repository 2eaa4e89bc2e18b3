package record

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// What a goroutine waits for is told, though no thread does.
func TestRequestsOfGoroutines(t *testing.T) { bothWays(t, checkGoroutines) }

func checkGoroutines(t *testing.T, options Options) {
	const count = 15
	recorder := start(t, options)
	port := freePort(t)
	server := running(t, programs.compile(t, "goroutines.go"), strconv.Itoa(port))
	awaitPort(t, port)
	if err := recorder.Begin(t.Context(), Target{Kind: "pid", Pid: server.pid()}); err != nil {
		t.Fatal(err)
	}
	asks := newAsker(t, port)
	defer asks.connection.Close()
	if _, err := asks.ask("/rest"); err != nil { // the service is found by its first request
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	for range count {
		for _, path := range []string{"/lock", "/rest", "/news"} {
			if _, err := asks.ask(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	rec := endWindow(t, recorder).Recording
	for _, each := range []struct{ kind, class, function, holder string }{
		{"GET /lock", recording.PartLock, "main.takeLock", "main.countUp"},
		{"GET /rest", recording.PartSleep, "main.takeRest", ""},
		{"GET /news", recording.PartHandover, "main.takeNews", ""},
	} {
		checkWaits(t, rec, each.kind, each.class, each.function, each.holder)
	}
}

// checkWaits holds the parts of a kind's requests to what they waited for: half of their time.
func checkWaits(t *testing.T, rec *recording.Recording, kind, class, function, holder string) {
	t.Helper()
	of, all := map[int64]bool{}, int64(0)
	for i := range rec.SlowRequests {
		if row := &rec.SlowRequests[i]; row.Kind == kind {
			of[row.ID], all = true, all+row.LatencyNs
		}
	}
	found, held, other := int64(0), int64(0), map[string]int64{}
	for i := range rec.RequestParts {
		part := &rec.RequestParts[i]
		if !of[part.Request] {
			continue
		}
		if part.Class != class || !hasFunction(rec, part.Stack, function) {
			other[part.Class] += part.LengthNs / 1e6
			continue
		}
		found += part.LengthNs
		if part.WakerKind == recording.WakerBeside && hasFunction(rec, part.WakerStack, holder) {
			held += part.LengthNs
		}
	}
	if 2*found < all || all == 0 {
		t.Errorf("%s: %d of %d ms in %s; else, in ms, %v", kind, found/1e6, all/1e6, function, other)
	}
	if holder != "" && 2*held < found {
		t.Errorf("%s: held in %s for %d of %d ms", kind, holder, held/1e6, found/1e6)
	}
}

func hasFunction(rec *recording.Recording, stack int32, name string) bool {
	return stack >= 0 && slices.ContainsFunc(rec.StackFrames(stack), func(frame recording.Frame) bool {
		return strings.HasPrefix(frame.Name, name)
	})
}
