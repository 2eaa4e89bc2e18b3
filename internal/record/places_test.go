package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"culprit/recording"
)

// mapOf opens a map of another process by its name and the size of its keys.
func mapOf(t *testing.T, pid int, name string, keySize uint32) *ebpf.Map {
	t.Helper()
	infos, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range infos {
		text, _ := os.ReadFile(path) // it may be closed by now
		at := strings.Index(string(text), "map_id:")
		var id ebpf.MapID
		if at < 0 {
			continue
		}
		if _, err := fmt.Sscanf(string(text[at:]), "map_id: %d", &id); err != nil {
			t.Fatal(err)
		}
		found, err := ebpf.NewMapFromID(id)
		if err != nil {
			continue
		}
		if info, err := found.Info(); err == nil && info.Name == name && found.KeySize() == keySize {
			t.Cleanup(func() { _ = found.Close() })
			return found
		}
		_ = found.Close()
	}
	t.Fatalf("process %d has no map %s", pid, name)
	return nil
}

// place is a key of the totals of offcpu: its first word is a process.
type place [6]uint32

// Where no more places fit, a process keeps its time off the CPU: only the stacks are lost, which
// is counted.
func TestTimeOfPlacesThatDoNotFit(t *testing.T) {
	recorder := standing.get(t)
	totals := mapOf(t, recorder.Pid(), "totals", 24)
	h := hold(t, "sleep", "0.3")
	if err := recorder.Begin(t.Context(), Target{Kind: "command", Command: "sleep", Pid: h.pid()}); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, totals.ValueSize())
	var filled []place
	for i := uint32(0); i < totals.MaxEntries(); i++ {
		key := place{1 << 30, i} // no process has this number
		if totals.Update(key, value, ebpf.UpdateNoExist) == nil {
			filled = append(filled, key)
		}
	}
	h.release()
	h.wait(t)
	for _, key := range filled {
		if err := totals.Delete(key); err != nil {
			t.Fatal(err)
		}
	}
	got := endWindow(t, recorder)
	off := int64(0)
	for _, sample := range got.Samples {
		names := got.StackNames(sample.Stack)
		if sample.Signal == recording.SignalOffCPU && int(sample.Pid) == h.pid() &&
			slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "did not fit") }) {
			off += sample.ValueNs
		}
	}
	if off < 300e6 {
		t.Errorf("a sleep of 300 ms left %d ns off the CPU", off)
	}
	if !slices.ContainsFunc(got.Manifest.Losses, func(loss recording.Loss) bool {
		return strings.HasPrefix(loss.What, "offcpu: times a place did not fit") && loss.Count > 0
	}) {
		t.Errorf("that places did not fit is not among the losses %v", got.Manifest.Losses)
	}
}
