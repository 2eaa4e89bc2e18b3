package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"culprit/internal/investigate"

	"github.com/rivo/uniseg"
)

// golden compares with a file under testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, got)
	}
}

func textOf(t *testing.T, c *investigate.Case, opts TextOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := Text(&out, c, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTextOfEachOutcome(t *testing.T) {
	for name, c := range outcomes() {
		golden(t, name+".txt", []byte(textOf(t, c, TextOptions{Width: 100})))
	}
	golden(t, "line.txt", []byte(textOf(t, lineCase(), TextOptions{Width: 100})))
	golden(t, "worse-colour-60.txt", []byte(textOf(t, worseCase(), TextOptions{Width: 60, Colour: true})))
}

func TestTextKeepsToItsWidth(t *testing.T) {
	for _, width := range []int{40, 72, 120} {
		c := hostileCase()
		c.Suspects = append(c.Suspects[3:], c.Suspects[:3]...) // the hostile one first, in full
		for _, line := range strings.Split(textOf(t, c, TextOptions{Width: width}), "\n") {
			if strings.HasPrefix(line, "report ") {
				continue // a path is there to be copied, whole
			}
			if columns := uniseg.StringWidth(line); columns > width {
				t.Errorf("width %d: a line of %d columns: %s", width, columns, line)
			}
		}
	}
}

func TestTextHasNoControlCharacters(t *testing.T) {
	for _, char := range textOf(t, hostileCase(), TextOptions{Width: 80}) {
		if char != '\n' && !unicode.IsPrint(char) {
			t.Fatalf("the text contains %U", char)
		}
	}
	plain := textOf(t, hostileCase(), TextOptions{})
	if strings.Contains(plain, "\x1b") {
		t.Error("colour without having been asked for")
	}
	if !strings.Contains(textOf(t, worseCase(), TextOptions{Colour: true}), "\x1b[1;33mWORSE") {
		t.Error("no colour although asked for")
	}
}

func TestTextRefusesNoCase(t *testing.T) {
	if err := Text(&bytes.Buffer{}, nil, TextOptions{}); err == nil {
		t.Error("no error without a case")
	}
	if err := Text(failingWriter{}, worseCase(), TextOptions{}); !errors.Is(err, errFull) {
		t.Errorf("error is %v, want what the writer said", err)
	}
}

var errFull = errors.New("no space left")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestVisible(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"plain name", "plain name"}, {"a\x00b\x1b[31m", `a\x00b\x1b[31m`}, {"x\u202ey", `x\u202ey`},
		{"line\nnext\tcell", `line\nnext\tcell`}, {"bad\xff", `bad\xff`}, {"\u2028", `\u2028`},
		{"名前", "名前"}, {"e\u0301\u0301\u0301\u0301", "e\u0301\u0301\\u0301\\u0301"},
		{"12345678901234567890X", "12345678901234567890…"},
	} {
		if got := visible(test.text, 20); got != test.want {
			t.Errorf("visible(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestLine(t *testing.T) {
	err := errors.Join(errors.New("read a: no such file"), errors.New("read \x1b[2Jb"))
	if got, want := Line(err), `read a: no such file; read \x1b[2Jb`; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
	if Line(nil) != "" {
		t.Error("a line for no error")
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{amount(1.0204, "s"), "1.02 s"}, {amount(0.34, "s"), "340 ms"}, {amount(12.34e-6, "s"), "12.3 µs"},
		{amount(0, "s"), "0 s"}, {amount(183000, "calls"), "183,000 calls"}, {amount(3<<30, "bytes"), "3 GiB"},
		{amount(-0.02, "s"), "−20 ms"}, {amount(1800, "s"), "30 min"}, {change(0.98, 1.2, "s"), "0.98 s → 1.20 s"},
		{change(0.9, 1.2, "s"), "0.90 s → 1.20 s"}, {change(1.02, 1.023, "s"), "1.020 s → 1.023 s"},
		{change(0, 183000, "calls/run"), "0 → 183,000 calls/run"},
		{percent(0.934), "93 %"}, {percent(0.034), "3.4 %"}, {percent(0.03), "3 %"}, {percent(-0.0001), "0 %"},
		{times(1.3517), "1.35×"}, {times(12.34), "12.3×"}, {times(1234), "1,234×"}, {plural(1, "pair"), "1 pair"},
	} {
		if got := strings.ReplaceAll(test.got, space, " "); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
