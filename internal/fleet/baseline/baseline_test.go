package baseline

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// zipOf is a zip of members with these contents.
func zipOf(t *testing.T, members ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range members {
		member, err := w.Create(name)
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = io.WriteString(member, "of "+name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is packed comes out the same; what else lies in the folder stays there.
func TestRoundTrip(t *testing.T) {
	folder, to := t.TempDir(), filepath.Join(t.TempDir(), "new", "20261123-120000")
	files := map[string]string{"case.json": "{}", "recordings/A-1.culprit": "PK",
		"recordings/A-2.culprit": strings.Repeat("x", 1e6)}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "report.html"), []byte("page"), 0o644); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := Pack(&packed, folder); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(bytes.NewReader(packed.Bytes()), int64(packed.Len()), to); err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %.20q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "report.html")); err == nil {
		t.Error("the page is in the batch")
	}
	if err := Unpack(bytes.NewReader(packed.Bytes()), int64(packed.Len()), to); err == nil {
		t.Error("a batch was overwritten")
	}
	if err := Pack(io.Discard, t.TempDir()); err == nil {
		t.Error("a folder without a case was packed")
	}
}

func TestRefuses(t *testing.T) {
	many := []string{"case.json"}
	for i := range maxMembers {
		many = append(many, fmt.Sprintf("recordings/A-%d.culprit", i))
	}
	for name, file := range map[string][]byte{
		"no zip": []byte("PK\x03\x04 and no more"), "nothing": {}, "no case": zipOf(t, "recordings/A-1.culprit"),
		"above":   zipOf(t, "case.json", "../../etc/passwd"),
		"root":    zipOf(t, "case.json", "/recordings/A.culprit"),
		"folder":  zipOf(t, "case.json", "recordings/"),
		"below":   zipOf(t, "case.json", "recordings/../../A.culprit"),
		"twice":   zipOf(t, "case.json", "case.json"),
		"foreign": zipOf(t, "case.json", "report.html"),
		"many":    zipOf(t, many...),
	} {
		if err := Check(bytes.NewReader(file), int64(len(file))); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		to := filepath.Join(t.TempDir(), "to")
		if err := Unpack(bytes.NewReader(file), int64(len(file)), to); err == nil {
			t.Errorf("%s was unpacked", name)
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%s left something", name)
		}
	}
}

// A gigabyte of zeros in a megabyte is refused before it is expanded.
func TestBomb(t *testing.T) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	member, err := w.CreateHeader(&zip.FileHeader{Name: "case.json", Method: zip.Deflate})
	if err == nil {
		_, err = member.Write([]byte("{}"))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	// The size that the directory tells, in its last entry.
	file := out.Bytes()
	at := bytes.LastIndex(file, []byte("PK\x01\x02"))
	copy(file[at+24:], []byte{0xff, 0xff, 0xff, 0x7f})
	if err := Check(bytes.NewReader(file), int64(len(file))); !errors.Is(err, ErrRefused) {
		t.Errorf("a bomb: %v", err)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"app": true, "app-1.2_x": true, "": false, "../x": false, "a/b": false,
		".hidden": false, "App": false, strings.Repeat("x", 64): false, "a\n": false} {
		if IsName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	now := time.Date(2026, 11, 23, 12, 0, 5, 0, time.UTC)
	if taken, is := Taken(BatchOf(now)); !is || !taken.Equal(now) {
		t.Errorf("%s is %s, %v", BatchOf(now), taken, is)
	}
	for _, name := range []string{"", "20261123", "20261323-120000", "../20261123-120000", "20261123-120000.5"} {
		if _, is := Taken(name); is {
			t.Errorf("%q is taken as a batch", name)
		}
	}
}
