package machine

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// framedFile is a file as the guest hands it out.
func framedFile(name, content string) string {
	return fmt.Sprintf("%s%s %d %x\n%s", fileBegins, name, len(content), sha256.Sum256([]byte(content)), content)
}

func handedOut(t *testing.T, text string) (folder string, err error) {
	t.Helper()
	line := filepath.Join(t.TempDir(), "line")
	if err := os.WriteFile(line, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(t.TempDir(), "out")
	return folder, unpack(line, folder)
}

// Bytes come as they are, also such that look like the next file's line.
func TestFilesAreUnpacked(t *testing.T) {
	const binary = "PK\x03\x04\r\n\x00\xff" + fileBegins + "a 1 b\n"
	folder, err := handedOut(t, framedFile("a.culprit", binary)+framedFile("empty", "")+allHanded+"\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.culprit": binary, "empty": ""} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// What was whole before the guest broke off is kept; the rest is refused with its reason.
func TestBrokenHandOuts(t *testing.T) {
	whole := framedFile("first", "one")
	second := framedFile("second", "two")
	for text, want := range map[string]string{
		whole:                                     "broke off while",
		whole + second[:len(second)-1]:            "broke off after 2 of 3 bytes of second",
		whole + second[:len(second)-1] + "x":      "second came out of the guest with another checksum",
		whole + "login: \n":                       `handed out "login:`,
		whole + framedFile("../etc/passwd", "x"):  "a file named",
		whole + framedFile(".hidden", "x"):        "a file named",
		whole + fileBegins + "big 9999999999 0\n": "at most",
		whole + fileBegins + "less -1 0\n":        "at most",
		whole + strings.Repeat("x", 2000):         "broke off while",
		strings.Repeat(whole, mostFiles+1):        "more than 64 files",
	} {
		folder, err := handedOut(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
		if got, err := os.ReadFile(filepath.Join(folder, "first")); err != nil || string(got) != "one" {
			t.Errorf("%.60q: the first file is %q, %v", text, got, err)
		}
	}
}

// The arm64 machine has no second port.
func TestTakeNeedsAPort(t *testing.T) {
	if _, err := (&Machine{arch: ARM64}).Take(t.Context(), "", t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "no second serial port") {
		t.Errorf("it says %v", err)
	}
}

// A name is given exactly when there is no error, and the content is never longer than what there
// was.
func FuzzNext(f *testing.F) {
	f.Add([]byte(framedFile("a", "b")))
	f.Add([]byte(allHanded + "\n"))
	f.Add([]byte(fileBegins + "a 9999999 0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		name, content, err := next(bufio.NewReaderSize(bytes.NewReader(text), longestLine))
		if (name == "") != (err != nil) || len(content) > len(text) {
			t.Errorf("name %q, %d bytes, %v", name, len(content), err)
		}
		if err != nil && errors.Is(err, errAllHanded) && !bytes.HasPrefix(text, []byte(allHanded)) {
			t.Errorf("%q ends a hand-out", text)
		}
	})
}
