package format

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"culprit/internal/format/jfr"
	"culprit/recording"
)

// jdk17 is what the JDK 17 wrote of a program whose thread main parses, sleeps, and enters a
// monitor that the thread holder sleeps in.
func jdk17(t testing.TB) []byte { return unpack(t, "testdata/jdk17.jfr.gz") }

func TestJFROfJDK(t *testing.T) {
	text := jdk17(t)
	rec := importText(t, "x", text, Options{})
	if zipped := importText(t, "x", readFile(t, "testdata/jdk17.jfr.gz"), Options{}); dump(zipped) != dump(rec) {
		t.Errorf("compressed: %s", firstDifference(dump(zipped), dump(rec)))
	}
	m := rec.Manifest
	if m.Format != JFR || m.Hz != 100 || m.Target.Command != "java Work" || m.Target.Pid == 0 || m.WindowNs < 4e9 {
		t.Errorf("manifest %+v", m)
	}
	var samples, cpuNs int64
	for _, one := range rec.Samples {
		if one.Signal == recording.SignalCPU {
			samples, cpuNs = samples+one.Count, cpuNs+one.ValueNs
		}
	}
	if samples == 0 || cpuNs != samples*10e6 {
		t.Errorf("%d samples of %d ns", samples, cpuNs)
	}
	cpu := string(export(t, rec, AsFolded, recording.SignalCPU))
	if !strings.Contains(cpu, "main;Work.main_[j];Work.parse_[j];java.lang.Integer.toString_[j]") {
		t.Errorf("CPU time of\n%s", cpu)
	}
	waits := string(export(t, rec, AsFolded, recording.SignalOffCPU))
	for _, want := range []string{"main;Work.main_[j];java.lang.Thread.sleep_[j];ThreadSleep_[j]",
		"main;Work.main_[j];JavaMonitorEnter of java.lang.Object_[j]",
		"Work$$Lambda.run_[j];Work.lambda$main$0_[j];java.lang.Thread.sleep_[j]"} {
		if !strings.Contains(waits, want) {
			t.Errorf("no %s in\n%s", want, waits)
		}
	}
	var entered int64
	for _, wait := range rec.Waits {
		names := rec.StackNames(wait.Stack)
		if strings.HasPrefix(names[len(names)-1], "JavaMonitorEnter") {
			entered += wait.BlockedNs
		}
	}
	if held := 15 * 60 * time.Millisecond; entered <= 0 || time.Duration(entered) > held*2 {
		t.Errorf("%v at the monitor, which was held for %v", time.Duration(entered), held)
	}
	twice := importText(t, "x", append(bytes.Clone(text), text...), Options{})
	if got, want := twice.Manifest.Metrics["cpu"], 2*m.Metrics["cpu"]; got < want*0.999 || got > want*1.001 {
		t.Errorf("%g s in two chunks, want %g", got, want)
	}
}

// Damaged recordings are refused, or read without what is damaged, in bounded time.
func TestDamagedJFR(t *testing.T) {
	text := jdk17(t)
	random := rand.New(rand.NewPCG(3, 4))
	began, read := time.Now(), 0
	for range min(*mutations, 2000) / 10 {
		damaged := bytes.Clone(text)
		for range 1 + random.IntN(6) {
			at := random.IntN(len(damaged))
			if random.IntN(2) == 0 { // where constants and types are described
				at = len(damaged)/2 + random.IntN(len(damaged)/2)
			}
			damaged[at] = byte(random.IntN(256))
		}
		rec, err := Import([]Source{{Name: "x", Reader: bytes.NewReader(damaged)}}, Options{Format: JFR})
		if (rec == nil) == (err == nil) {
			t.Fatalf("recording %v and error %v", rec, err)
		}
		if err == nil {
			read++
			sound(t, rec)
		}
	}
	t.Logf("%d were read, in %v", read, time.Since(began))
	put := func(at int, value uint64) []byte {
		damaged := bytes.Clone(text)
		binary.BigEndian.PutUint64(damaged[at:], value)
		return damaged
	}
	for name, test := range map[string]struct {
		text []byte
		want string
	}{
		"cut":         {text[:len(text)/2], "cut off"},
		"head cut":    {text[:30], "cut off"},
		"not closed":  {put(8, 0), "JFR.dump"},
		"large":       {put(8, 1<<40), "more than is read"},
		"a lie":       {put(8, jfr.MaxChunk), "cut off"},
		"no types":    {put(24, 1<<30), "types are not where"},
		"no pools":    {put(16, 1<<30), "constants are not where"},
		"no clock":    {put(56, 0), "does not tick"},
		"another one": {append(bytes.Clone(text), make([]byte, 100)...), "does not begin as one"},
	} {
		_, err := Import([]Source{{Name: "x", Reader: bytes.NewReader(test.text)}}, Options{Format: JFR})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// Of a recording whose JVM was killed what it had flushed is read, and the rest is said to be
// missing. Bytes behind a closed chunk are damage.
func TestOpenJFR(t *testing.T) {
	closed := jdk17(t)
	const about = "not closed, as when the JVM is killed"
	whole := importText(t, "x", closed, Options{})
	if words := strings.Join(recording.Words(whole.Manifest.BlindSpots), "\n"); strings.Contains(words, about) {
		t.Errorf("a closed one is told as open: %s", words)
	}
	for name, behind := range map[string][]byte{"none": nil, "short": {1, 2, 3}, "long": make([]byte, 5000),
		"a chunk": closed} {
		open := bytes.Clone(closed)
		open[64] = 1
		rec := importText(t, "x", append(open, behind...), Options{})
		want := whole.Manifest.Metrics["cpu"]
		if name == "a chunk" {
			want *= 2
		}
		if got := rec.Manifest.Metrics["cpu"]; got < want*0.999 || got > want*1.001 {
			t.Errorf("%s: %g s of CPU time, want %g", name, got, want)
		}
		if words := strings.Join(recording.Words(rec.Manifest.BlindSpots), "\n"); !strings.Contains(words, about) {
			t.Errorf("%s: that it is open is not told: %s", name, words)
		}
	}
}

// Types that hold themselves, or nothing often, would be passed without an end.
func TestJFRWithoutEnd(t *testing.T) {
	// The first class has 120 fields of the second, that has as many of the third, and the last has
	// none.
	var texts []string
	at := map[string]byte{}
	name := func(text string) byte {
		if _, known := at[text]; !known {
			at[text] = byte(len(texts))
			texts = append(texts, text)
		}
		return at[text]
	}
	classes := []byte{5}
	for level := range 5 {
		class := []byte{name("class"), 2, name("id"), name(string(rune('5' + level))), name("name"), name("T"), 120}
		if level == 4 {
			class[len(class)-1] = 0
		}
		for range int(class[len(class)-1]) {
			class = append(class, name("field"), 2, name("name"), name("f"), name("class"),
				name(string(rune('6'+level))), 0)
		}
		classes = append(classes, class...)
	}
	tree := append([]byte{name("root"), 0, 1, name("metadata"), 0}, classes...)
	types := []byte{1, 0, 0, 0, 0, byte(len(texts))}
	for _, text := range texts {
		types = append(types, 3, byte(len(text)))
		types = append(types, text...)
	}
	types = append(types, tree...)
	constants := []byte{1, 1, 0, 0, 0, 0, 1, 5, 1, 1}
	made := append([]byte(jfr.Magic+"\x00\x02\x00\x01"), make([]byte, 60)...)
	for place, value := range map[int]int{8: 68 + len(types) + len(constants), 16: 68 + len(types), 24: 68, 56: 1000} {
		binary.BigEndian.PutUint64(made[place:], uint64(value))
	}
	made[67] = 1
	made = append(append(made, types...), constants...)
	_, err := Import([]Source{{Name: "x", Reader: bytes.NewReader(made)}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "without an end") {
		t.Errorf("error %v", err)
	}
}

func FuzzJFR(f *testing.F) {
	f.Add(jdk17(f))
	fuzz(f, JFR, "folded-*.txt")
}
