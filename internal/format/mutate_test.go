package format

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"culprit/recording"
)

var mutations = flag.Int("mutations", 300, "damaged texts to import; more find more")

// tokens are what the formats are made of: in a wrong place they are worst.
var tokens = []string{"(", ")", " (", "<", ">", "\"", "\\", " = ", "<unfinished ...>", "<... x resumed>", "[pid 1]",
	"\n", "\n\n", "\t", "+0x", "[", "]", "::", "-1", "9999999999999999999", "9223372036854775807", "clone(", "/",
	" > a(b+0x1) [0x1]", "CLONE_THREAD) = 5", "strace: Process 7 attached", "prev_state=", "==> next_pid=3", ";",
	"_[k]", " 1e308", " 0x", "1.5", "\r\n", "\x00", "\xff", "sched:sched_switch: ", ": ",
	"# event : sample_freq } = 0, freq = 1,", "PERF_RECORD_COMM"}

// Fuzzing with coverage is slow here, for a recording is large; texts of real
// tools with a few places damaged find more in the same time. -mutations 100000
// looks longer.
func TestImportOfDamagedText(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var seeds [][]byte
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, text[:min(len(text), 3000)])
	}
	rec := importText(t, "x", readFile(t, "testdata/perf-names.txt"), Options{})
	zipped := bytes.NewReader(export(t, rec, AsPprof, recording.SignalCPU))
	plain, err := uncompressed(bufio.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	seeds = append(seeds, plain, plain, export(t, rec, AsOTLP, recording.SignalCPU))
	random := rand.New(rand.NewPCG(1, 2))
	imported := 0
	for range *mutations {
		text := damage(random, bytes.Clone(seeds[random.IntN(len(seeds))]))
		as := Readable[random.IntN(len(Readable))]
		rec, err := Import([]Source{{Name: "x", Reader: bytes.NewReader(text)}}, Options{Format: as})
		if (rec == nil) == (err == nil) {
			t.Fatalf("recording %v and error %v of %q", rec, err, text)
		}
		if err != nil {
			continue
		}
		imported++
		sound(t, rec)
		for _, signal := range signalsOf(rec) {
			for _, out := range Writable {
				if err := Export(io.Discard, rec, out, signal); err != nil && len(amountsOf(rec, signal)) > 0 {
					t.Fatalf("export %s of %s of %q: %v", out, signal, text, err)
				}
			}
		}
	}
	if imported < *mutations/20 {
		t.Errorf("only %d of %d texts were imported: the damage is too large to test much", imported, *mutations)
	}
}

// damage changes, takes out, puts in, doubles or cuts off something, up to a dozen times.
func damage(random *rand.Rand, text []byte) []byte {
	for range 1 + random.IntN(12) {
		if len(text) == 0 {
			return text
		}
		at := random.IntN(len(text))
		switch random.IntN(5) {
		case 0:
			text[at] = byte(random.IntN(256))
		case 1:
			text = append(text[:at], text[at+random.IntN(min(40, len(text)-at)):]...)
		case 2:
			token := tokens[random.IntN(len(tokens))]
			text = append(text[:at:at], append([]byte(token), text[at:]...)...)
		case 3:
			end := at + random.IntN(min(200, len(text)-at))
			text = append(text[:end:end], append(bytes.Clone(text[at:end]), text[end:]...)...)
		case 4:
			if random.IntN(4) == 0 {
				text = text[:at]
			}
		}
	}
	return text
}
