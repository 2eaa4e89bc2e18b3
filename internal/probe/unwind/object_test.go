package unwind

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
)

// Fails when a new version of the library has its object elsewhere, or another one: look at
// object.go then.
func TestLeanObject(t *testing.T) {
	lean, err := leanObject(object)
	if err != nil {
		t.Fatal(err)
	}
	before, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	after, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(lean))
	if err != nil {
		t.Fatal(err)
	}
	emptied := map[string]bool{}
	for _, known := range runTimes {
		for name := range known.programs {
			emptied["perf_"+name] = true
		}
	}
	for name, program := range before.Programs {
		got := len(after.Programs[name].Instructions)
		if emptied[name] && got != 2 || !emptied[name] && got != len(program.Instructions) {
			t.Errorf("program %s of %d instructions has %d", name, len(program.Instructions), got)
		}
	}
	inner := 0
	for name, was := range before.Maps {
		is := after.Maps[name]
		if fewer := fewerEntries[name+"_t"]; fewer != 0 {
			was.MaxEntries = fewer
		}
		if is.Type != was.Type || is.MaxEntries != was.MaxEntries || is.KeySize != was.KeySize ||
			is.ValueSize != was.ValueSize || is.Flags != was.Flags {
			t.Errorf("map %s: %v, was %v", name, is, was)
		}
		if was.InnerMap == nil {
			continue
		}
		inner++
		if is.InnerMap.MaxEntries != 1<<firstDeltaMap || is.InnerMap.Flags != was.InnerMap.Flags|innerMapFlag ||
			is.InnerMap.ValueSize != was.InnerMap.ValueSize || is.InnerMap.KeySize != was.InnerMap.KeySize {
			t.Errorf("inner map of %s: %v, was %v", name, is.InnerMap, was.InnerMap)
		}
	}
	if inner != deltaMaps || len(emptied) < len(runTimes) {
		t.Errorf("%d maps of maps, %d emptied programs", inner, len(emptied))
	}
}

// A program that still looked for stack deltas in another map than the first would find none:
// fillFirstDeltas leaves the others empty.
func TestDeltasAreInOneMap(t *testing.T) {
	before, err := collection(false)
	if err != nil {
		t.Fatal(err)
	}
	after, err := collection(true)
	if err != nil {
		t.Fatal(err)
	}
	var readers []string
	for name, program := range before.Programs {
		uses, uses1 := mapsUsed(program), mapsUsed(after.Programs[name])
		if !strings.HasPrefix(name, "perf_") || uses[deltaMap(0)] == 0 {
			if !maps.Equal(uses, uses1) {
				t.Errorf("program %s uses %v, used %v", name, uses1, uses)
			}
			continue
		}
		readers = append(readers, strings.Replace(name, "perf_", "perf_event/", 1))
		for i := range deltaMaps {
			if want := map[bool]int{true: deltaMaps}[i == 0]; uses[deltaMap(i)] != 1 || uses1[deltaMap(i)] != want {
				t.Errorf("program %s uses %s %d times, used it %d times", name, deltaMap(i), uses1[deltaMap(i)],
					uses[deltaMap(i)])
			}
		}
	}
	if slices.Sort(readers); !slices.Equal(readers, deltaPrograms) {
		t.Errorf("stack deltas are looked for in %v, known are %v", readers, deltaPrograms)
	}
}

// mapsUsed counts the instructions of a program that refer to each map.
func mapsUsed(program *ebpf.ProgramSpec) map[string]int {
	used := map[string]int{}
	for _, instruction := range program.Instructions {
		if instruction.IsLoadFromMap() {
			used[instruction.Reference()]++
		}
	}
	return used
}

// Whatever the types are, changing them fails or gives types: they come out of a library.
func FuzzSmallerMaps(f *testing.F) {
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{24, 0, 0, 0}, 16))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if smaller, err := smallerMaps(raw); (err == nil) == (len(smaller) == 0) {
			t.Errorf("%d bytes and error %v", len(smaller), err)
		}
	})
}

func TestRunTimeOf(t *testing.T) {
	for path, want := range map[string]string{"/usr/bin/python3.11": "Python", "/opt/lib/libpython3.so": "Python",
		"/usr/lib/jvm/x/lib/server/libjvm.so": "Java",
		"/usr/lib/jvm/x/bin/java":             "Java", "/usr/bin/node": "Node", "/usr/bin/sh": "",
		"/srv/python/server": ""} {
		if got := RunTimeOf(path); got != want {
			t.Errorf("%s belongs to %q, not %q", path, got, want)
		}
	}
}
