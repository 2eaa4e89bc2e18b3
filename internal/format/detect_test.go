package format

import (
	"bufio"
	"errors"
	"strings"
	"testing"
)

// What every host has lying around is no profile: nobody's samples are made of it.
func TestForeignTextIsNoFormat(t *testing.T) {
	for name, text := range map[string]string{
		"group":   "root:x:0:\ndaemon:x:1:\nbin:x:2:\n",
		"shadow":  "root:*:20228:0:99999:7:::\ndaemon:*:20228:0:99999:7:::\n",
		"meminfo": "MemTotal:       24684084 kB\nMemFree:        21012345 kB\nCached:           123456 kB\n",
		"passwd":  "root:x:0:0:root:/root:/bin/bash\n",
		"smaps": "55c97a5f3000-55c97a5f5000 r--p 00000000 fe:00 247026                     /usr/bin/cat\n" +
			"Size:                  8 kB\nRss:                   8 kB\nTHPeligible:           0\nVmFlags: rd mr mw me \n" +
			"55c97a5f5000-55c97a5fa000 r-xp 00002000 fe:00 247026                     /usr/bin/cat\n" +
			"Size:                 20 kB\nTHPeligible:           0\nVmFlags: rd ex mr mw me \n",
		"maps": "562c29557000-562c2955b000 r--p 00000000 fe:00 247056                     /usr/bin/cp\n" +
			"7f57b7a00000-7f57b7a03000 rw-p 00000000 00:00 0 \n7ffc3a5d0000-7ffc3a5f1000 rw-p 00000000 00:00 0    [stack]\n",
		"mentions": "@anna: see below\nthe rest is on page 7,\nwhere it says so.\nOr not.\nWho knows?\n",
		"blanks":   "\n\n\n\n\n\n\n\n\n\n\n\n",
		"vmstat":   "nr_free_pages 5215563\nnr_zone_inactive_anon 12\nnr_zone_active_anon 45\n",
		"chapters": "Chapter 3 Numbers:\nabc is a word (of three letters\nStep 12 then:\n\tdo it\n",
	} {
		if format, err := detect(bufio.NewReaderSize(strings.NewReader(text), detectBytes)); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s is taken for %q, error %v", name, format, err)
		}
	}
	for text, want := range map[string]string{
		"java 12/13 [001] 5.25: 10101010 cpu-clock:\n\tffff8 main+0x5 (x)\n\n": PerfScript,
		"cpu-clock:\n\tffffffff8100 do_idle+0x5 ([kernel])\n\n":                PerfScript,
		"cpu-clock: ffffffff8100 do_idle+0x5 ([kernel])\n":                     PerfScript,
		"java 12/13 cpu-clock:\n":                                              PerfScript,
		"java 19983 cycles:\nffffffff8103 write ([kernel])\n\n":                PerfScript,
		"a b 31912 cpu-clock: \n      c6d7 L:~b d:1 (/tmp/perf-3.map)\n\n":     PerfScript,
		"main;work 5\n": Folded,
		"Attaching 1 probe...\n\n\n@[\n    vfs_read+570\n    ksys_read+110\n]: 12\n":   Bpftrace,
		"@[\n\t7f5e1d main+0x12 (/srv/app)\n\t7f5e2d start+0x9 (/srv/app)\n, 7]: 12\n": Bpftrace,
		"@n[sh, 102]: 1\n@n[go, 3]: 4\n":                                               Bpftrace,
		`{"type": "map", "data": {"@c": 591}}`:                                         Bpftrace,
		`{"resourceProfiles":[]}`:                                                      OTLP,
		"12 1.5 read(3, \"\", 1) = 0 <0.01>\n":                                         Strace,
	} {
		if format, err := detect(bufio.NewReaderSize(strings.NewReader(text), detectBytes)); format != want {
			t.Errorf("%q is taken for %q (%v), want %q", text, format, err, want)
		}
	}
}

// Without a time, the number before an event is the thread's id, unless no thread can have it.
func TestNumberBeforeEvent(t *testing.T) {
	for line, want := range map[string]struct {
		comm        string
		tid, period int64
	}{
		"java 19983 cycles:":                                 {"java", 19983, -1},
		"java 4194304 cycles:":                               {"java", 4194304, -1},
		"java 10101010 cpu-clock:":                           {"java", 0, 10101010},
		"java 19983 250000 cycles:":                          {"java", 19983, 250000},
		"a 3 b 19983 cycles:":                                {"a 3 b", 19983, -1},
		"java 12/19983 cycles:":                              {"java", 19983, -1},
		"java 19983 [002] 1.5: cycles:":                      {"java", 19983, -1},
		"java 19983 1.5:     25 cycles:":                     {"java", 19983, 25},
		"java [002] 33 cycles:":                              {"java", 0, 33},
		"a b: 12/3 [0] < 7132/7133 [001] 5.25: 9 cpu-clock:": {"a b: 12/3 [0] <", 7133, 9},
		"a 12 [0] 7133 [001] 5.25: 9 cpu-clock:ppp:":         {"a 12 [0]", 7133, 9},
		"a 12/3 b 7132/7133 5.25: cycles:":                   {"a 12/3 b", 7133, -1},
		"a 12/7133 5.25: 9 cycles: 3/4 [1] cycles:":          {"a", 7133, 9},
		"    33 cycles:":                                     {"", 0, 33},
	} {
		header, ok := parsePerfHeader([]byte(line))
		if !ok || string(header.comm) != want.comm || int64(header.tid) != want.tid || header.period != want.period {
			t.Errorf("%q: %q, %d, period %d, %v", line, header.comm, header.tid, header.period, ok)
		}
	}
}
