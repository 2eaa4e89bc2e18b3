package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/recording"
)

// from runs one command line with something on standard input.
func from(t *testing.T, input string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	w := world{stdin: strings.NewReader(input), stdout: &stdout, stderr: &stderr}
	status := run(context.Background(), w, args)
	return outcome{stdout.String(), stderr.String(), status}
}

const stacks = "main;parse 30\nmain;send 12\n"

// What is imported from standard input comes out again, and one recording can be explained.
func TestImportExplainExport(t *testing.T) {
	out := filepath.Join(t.TempDir(), "day.culprit")
	got := from(t, stacks, "import", "-o", out, "--period", "20ms", "--json", "-", "-")
	var summary imported
	if err := json.Unmarshal([]byte(got.stdout), &summary); err != nil || got.status != exitDone {
		t.Fatalf("%v: %+v", err, got)
	}
	if summary.Schema != importedSchema || summary.Samples != 2 || summary.Metrics["cpu"] != 0.84 {
		t.Errorf("summary %+v", summary)
	}
	rec, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Manifest.Program != "culprit "+version || rec.Manifest.Target.Kind != "import" {
		t.Errorf("manifest %+v", rec.Manifest)
	}
	got = here(t, "export", out, "--as", "folded")
	if got.stdout != stacks || got.status != exitDone || got.stderr != "" {
		t.Errorf("export gave %+v", got)
	}
	got = here(t, "explain", out)
	for _, want := range []string{"840 ms of CPU time", "parse 600 ms", "send 240 ms", "imported from folded stacks"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("explain does not say %q: %+v", want, got)
		}
	}
}

// A log of strace names what the program waited for.
func TestExplainStrace(t *testing.T) {
	const log = `10 1700000000.000000 execve("/usr/bin/app", ["app", "-x"], 0x7ffe /* 9 vars */) = 0 <0.000300>
10 1700000000.010000 openat(AT_FDCWD, "/srv/app.log", O_WRONLY) = 3 <0.000040>
10 1700000000.020000 fsync(3) = 0 <0.147000>
10 1700000000.180000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=20000000}, NULL) = 0 <0.020000>
10 1700000000.210000 exit_group(0) = ?
10 1700000000.210100 +++ exited with 0 +++
`
	folder := t.TempDir()
	in, out := filepath.Join(folder, "app.strace"), filepath.Join(folder, "app.culprit")
	if err := os.WriteFile(in, []byte(log), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := here(t, "import", "-o", out, in); got.status != exitDone {
		t.Fatalf("import: %+v", got)
	}
	got := here(t, "explain", out)
	for _, want := range []string{"210 ms of wall time", "app -x", "file.sync, 70 % of wall time", "sleep.deliberate"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("explain does not say %q: %+v", want, got)
		}
	}
}

func TestImportAndExportRefuse(t *testing.T) {
	folder := t.TempDir()
	there := filepath.Join(folder, "there.culprit")
	if got := from(t, stacks, "import", "-o", there, "-"); got.status != exitDone {
		t.Fatalf("import: %+v", got)
	}
	new := filepath.Join(folder, "new")
	for _, each := range []struct {
		args []string
		want []string
	}{
		{[]string{"import", "-o", new}, []string{"give a file", "-"}},
		{[]string{"import", "x"}, []string{"-o FILE.culprit"}},
		{[]string{"import", "-o", new, "none.txt"}, []string{"none.txt does not exist"}},
		{[]string{"import", "-o", new, folder}, []string{"is a folder"}},
		{[]string{"import", "-o", there, "-"}, []string{"exists", "-f"}},
		{[]string{"import", "-o", new, "--format", "nmon", "-"}, []string{`"nmon"`, "perfscript"}},
		{[]string{"import", "-o", new, "--format", "folded", "--signal", "x", "-"}, []string{`"x"`, "offcpu"}},
		{[]string{"import", "-o", new, "--format", "strace", "-"}, []string{"import - as strace", "strace -f -ttt -T"}},
		{[]string{"import", "-o", new, there}, []string{"needs no import"}},
		{[]string{"export"}, []string{"not 0"}},
		{[]string{"export", there}, []string{"--as folded"}},
		{[]string{"export", "none.culprit", "--as", "folded"}, []string{"no such file"}},
		{[]string{"export", there, "--as", "pprof", "--signal", "offcpu", "-o", new}, []string{"it has cpu"}},
		{[]string{"export", there, "--as", "folded", "-o", there}, []string{"exists", "-f"}},
	} {
		t.Run(strings.Join(each.args[:1], " ")+" "+each.want[0], func(t *testing.T) {
			got := from(t, stacks, each.args...)
			oneLine(t, got, each.want...)
			if got.stdout != "" {
				t.Errorf("it prints %q", got.stdout)
			}
			left, err := os.ReadDir(folder)
			if err != nil || len(left) != 1 {
				t.Errorf("it leaves %v, %v", left, err)
			}
		})
	}
}

// Two logs of strace are compared by run: they have no CPU time to divide by.
func TestCompareStrace(t *testing.T) {
	folder := t.TempDir()
	var files []string
	for _, name := range []string{"fast", "slow"} {
		log := `10 1700000000.000000 execve("/usr/bin/app", ["app"], 0x7ffe /* 9 vars */) = 0 <0.000300>
10 1700000000.020000 fsync(3) = 0 <0.100000>
10 1700000000.150000 +++ exited with 0 +++
`
		if name == "slow" {
			log = strings.ReplaceAll(strings.ReplaceAll(log, "<0.1", "<0.5"), "0.150000", "0.550000")
		}
		in := filepath.Join(folder, name)
		if err := os.WriteFile(in, []byte(log), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := here(t, "import", "-o", in+".culprit", in); got.status != exitDone {
			t.Fatalf("import: %+v", got)
		}
		files = append(files, in+".culprit")
	}
	got := here(t, "compare", files[0], files[1])
	for _, want := range []string{"150 ms → 550 ms", "fsync", "+400 ms", "file.sync"} {
		if got.status == exitError || !strings.Contains(got.stdout, want) {
			t.Errorf("compare does not say %q: %+v", want, got)
		}
	}
}
