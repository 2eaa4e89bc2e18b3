package format

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"culprit/recording"
)

// codeBlock finds the queries of the guide; blocks without a language are what they print.
var codeBlock = regexp.MustCompile("(?s)```(sql|python)\n(.*?)```")

// runQueries runs one block per file, in order, and prints a line before each.
const runQueries = `
import sys
import duckdb
for path in sys.argv[1:]:
    print("BLOCK", path)
    text = open(path).read()
    if path.endswith(".sql"):
        rows = duckdb.execute(text).fetchall()
        assert rows, "no rows"
        for row in rows:
            print(row)
    else:
        exec(compile(text, path, "exec"), {})
`

// Every query of docs/guide/query.md runs on a recording whose answers are known.
func TestQueriesOfTheGuide(t *testing.T) {
	python := queryPython(t)
	guide := readFile(t, "../../docs/guide/query.md")
	folder := t.TempDir()
	unzip(t, folder, answersKnown())
	args := []string{"-c", runQueries}
	for i, block := range codeBlock.FindAllSubmatch(guide, -1) {
		path := filepath.Join(folder, string('a'+rune(i))+"."+string(block[1]))
		if err := os.WriteFile(path, block[2], 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	command := exec.Command(python, args...)
	command.Dir = folder
	printed, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	blocks := strings.Split(string(printed), "BLOCK ")[1:]
	want := []string{
		"('hash', 'native', 180.0)\n('ksys_write', 'kernel', 10.0)",
		"('app', 'write', 'kernel', 'kworker/0:1', 1, 147.0)",
		"('openat', 'ENOENT', 3, 8)",
		"(20.0, 'app', 'write', '/srv/app.log', 147.0, 146.0)",
		"('write', 2.048, 7)",
		"('main;hash', 18)\n('main;write;ksys_write', 1)",
		"hash          180.0\nksys_write     10.0",
		"write       7       0  147050000",
		"0            100.0\n100000000     90.0",
	}
	if len(blocks) != len(want) {
		t.Fatalf("%d blocks ran, want %d", len(blocks), len(want))
	}
	for i, text := range want {
		if !strings.Contains(blocks[i], text) {
			t.Errorf("block %s lacks\n%s", blocks[i], text)
		}
	}
}

// queryPython finds the environment that .ci/python made.
func queryPython(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("CULPRIT_TEST_VENV")
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.Join(home, ".cache/culprit-test-venv")
	}
	if why, err := os.ReadFile(filepath.Join(folder, "why")); err == nil {
		t.Skipf("DuckDB and pandas could not be installed: %s", bytes.TrimSpace(why))
	}
	python := filepath.Join(folder, "bin/python")
	if _, err := os.Stat(python); err != nil {
		if testing.Short() {
			t.Skipf("no DuckDB and pandas in %s, which `bash .ci/python` makes", folder)
		}
		t.Fatalf("no DuckDB and pandas in %s: run `bash .ci/python` (make test does)", folder)
	}
	return python
}

// answersKnown is a recording that the expected answers above were worked out of.
func answersKnown() *recording.Recording {
	builder := recording.NewBuilder()
	frame := func(name string, kind recording.FrameKind) int32 {
		return builder.Frame(recording.Frame{Name: name, Kind: kind})
	}
	start := frame("main", recording.KindNative)
	hash := builder.Stack([]int32{start, frame("hash", recording.KindNative)})
	write := builder.Stack([]int32{start, frame("write", recording.KindNative), frame("ksys_write", recording.KindKernel)})
	sample := func(timeNs int64, stack int32, count int64) recording.Sample {
		return recording.Sample{Signal: recording.SignalCPU, TimeNs: timeNs, Pid: 7, Tid: 7, Stack: stack, Count: count,
			ValueNs: count * 10e6, Target: true, Comm: "app"}
	}
	rec := &recording.Recording{
		Samples: []recording.Sample{sample(0, hash, 9), sample(0, write, 1), sample(100e6, hash, 9)},
		Threads: []recording.Thread{{Pid: 7, Tid: 7, Comm: "app"}},
		Waits: []recording.Wait{{TimeNs: 20e6, BlockedNs: 147e6, Pid: 7, Tid: 7, Syscall: "write", Stack: write,
			WakerKind: recording.WakerKernel, WakerComm: "kworker/0:1", WakerStack: recording.NoStack}},
		Syscalls: []recording.Syscall{
			{Pid: 7, Tid: 7, Comm: "app", Name: "openat", Count: 8, Errors: 3, TotalNs: 8000, Buckets: []int64{0, 8}},
			{Pid: 7, Tid: 7, Comm: "app", Name: "write", Count: 7, TotalNs: 147_050_000,
				Buckets: []int64{11: 7}}},
	}
	rec.Errors = []recording.SyscallError{{Pid: 7, Name: "openat", Errno: "ENOENT", Count: 3}}
	rec.Slow = []recording.Slow{{TimeNs: 20e6, DurationNs: 147e6, Pid: 7, Tid: 7, Comm: "app", Name: "write",
		ObjectKind: recording.ObjectFile, Object: "/srv/app.log", BlockedNs: 146e6, Stack: write,
		WakerStack: recording.NoStack, HopStack: recording.NoStack}}
	builder.Into(rec)
	return rec
}

func unzip(t *testing.T, folder string, rec *recording.Recording) {
	t.Helper()
	var file bytes.Buffer
	if err := recording.Encode(&file, rec); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range archive.File {
		stream, err := member.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(stream)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, member.Name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
