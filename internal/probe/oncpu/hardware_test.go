package oncpu

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"culprit/internal/probe/counters/event"
)

// The processor's way to sample memory is found in sysfs, by its maker's events; a host without one
// has none.
func TestFindMemory(t *testing.T) {
	for name, test := range map[string]struct {
		files  map[string]string
		source string
		events []string
	}{
		"Intel": {map[string]string{"cpu/type": "4", "cpu/events/mem-loads": "event=0xcd,umask=0x1,ldlat=3",
			"cpu/events/mem-stores": "event=0xd0,umask=0x82", "cpu/format/event": "config:0-7",
			"cpu/format/umask": "config:8-15", "cpu/format/ldlat": "config1:0-15"}, "PEBS",
			[]string{"cpu/mem-loads/", "cpu/mem-stores/"}},
		"Intel without a latency event": {map[string]string{"cpu/type": "4", "cpu/events/mem-stores": "event=0xd0,umask=0x82",
			"cpu/format/event": "config:0-7", "cpu/format/umask": "config:8-15"}, "PEBS", []string{"cpu/mem-stores/"}},
		"AMD": {map[string]string{"cpu/type": "4", "cpu/events/cache-misses": "event=0x64", "cpu/format/event": "config:0-7",
			"ibs_op/type": "11", "ibs_op/format/cnt_ctl": "config:19"}, "IBS", []string{"ibs_op/cnt_ctl=0/"}},
		"Arm": {map[string]string{"armv8_pmuv3_0/type": "8", "arm_spe_0/type": "9", "arm_spe_0/cpumask": "0-1",
			"arm_spe_0/format/load_filter": "config:34", "arm_spe_0/format/store_filter": "config:33",
			"arm_spe_0/format/jitter": "config:16"}, "SPE", []string{"arm_spe_0/load_filter=1,store_filter=1,jitter=1/"}},
		"Arm without it":    {map[string]string{"armv8_pmuv3_0/type": "8"}, "", nil},
		"a virtual machine": {map[string]string{"software/type": "1"}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range test.files {
				path = filepath.Join(root, "sys/bus/event_source/devices", path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			found := findMemory(memorySources, event.Source{Root: root})
			if test.source == "" {
				if found != nil {
					t.Errorf("found %+v", found)
				}
				return
			}
			if found == nil || found.name != test.source || !slices.Equal(found.events, test.events) {
				t.Fatalf("found %+v, want %v of %s", found, test.events, test.source)
			}
		})
	}
}
