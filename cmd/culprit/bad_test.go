package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// oneLine checks the promise for errors: status 2 and one line that begins with culprit's name.
func oneLine(t *testing.T, got outcome, words ...string) {
	t.Helper()
	if got.status != exitError {
		t.Errorf("status %d, want %d", got.status, exitError)
	}
	line, more, _ := strings.Cut(got.stderr, "\n")
	if !strings.HasPrefix(line, "culprit: ") || more != "" {
		t.Errorf("not one line of culprit: %q", got.stderr)
	}
	for _, word := range words {
		if !strings.Contains(line, word) {
			t.Errorf("%q does not say %q", line, word)
		}
	}
}

// bad is a command line that is refused, and words of the line that says why.
type bad struct {
	name string
	args []string
	want []string
}

// badOfRecording are about recording, reading recordings, and culprit itself.
func badOfRecording() []bad {
	return []bad{
		{"unknown verb", []string{"recrod"}, []string{`"recrod"`, "did you mean record?"}},
		{"nothing like a verb", []string{"xyzzy"}, []string{`"xyzzy"`, "culprit --help"}},
		{"unknown flag", []string{"record", "--bogus"}, []string{"--bogus", "culprit record --help"}},
		{"unknown flag of culprit", []string{"--bogus"}, []string{"--bogus", "culprit --help"}},
		{"flag without its value", []string{"record", "-o"}, []string{"'o'"}},
		{"bad number", []string{"record", "-p", "x"}, []string{`--pid "x" is no whole number`, "record --help"}},
		{"number out of range", []string{"top", "-p", "99999999999999999999"}, []string{"out of range"}},
		{"bad duration", []string{"record", "-d", "10"}, []string{`--duration "10" is no time`, "30s"}},
		{"neither true nor false", []string{"explain", "--why=maybe", "x"}, []string{`--why "maybe" is neither`}},
		{"word that is missing", []string{"worth"}, []string{"no EXPERIMENT", "culprit worth EXPERIMENT"}},
		{"word too many", []string{"fleet", "bands", "a", "b"}, []string{"one SERVICE", `"b"`}},
		{"negative slow", []string{"record", "--slow", "-5ms", "-a", "-o", "x"}, []string{"--slow -5ms", "--slow 1ms"}},
		{"no slow", []string{"record", "--slow", "0", "-a", "-o", "x"}, []string{"--slow 0s"}},
		{"negative duration", []string{"record", "-d", "-1s", "-a", "-o", "x"}, []string{"not positive", "-d 10s"}},
		{"label", []string{"record", "--label", "new", "-a", "-o", "x"}, []string{`label "new"`, "key=value"}},
		{"nothing to record", []string{"record", "-o", "x"}, []string{"-p PID"}},
		{"two targets", []string{"record", "-a", "-p", "1", "-o", "x"}, []string{"only one of"}},
		{"no file", []string{"record", "--", "true"}, []string{"-o FILE"}},
		{"file that exists", []string{"record", "-o", "there", "--", "true"}, []string{"there exists", "-f"}},
		{"missing folder", []string{"record", "-o", "none/x", "--", "true"}, []string{"folder none does not exist"}},
		{"folder for a file", []string{"record", "-f", "-o", "folder", "--", "true"}, []string{"folder is a folder"}},
		{"device for a file", []string{"record", "-f", "-o", "/dev/null", "--", "true"}, []string{"/dev/null is not a file"}},
		{"folder that takes no file", []string{"record", "-o", "/proc/x", "--", "true"}, []string{"folder /proc"}},
		{"missing process", []string{"record", "-o", "x", "-p", "99999999"}, []string{"no process 99999999"}},
		{"negative process", []string{"record", "-o", "x", "-p", "-5"}, []string{"no process -5"}},
		{"missing cgroup", []string{"record", "-o", "x", "--cgroup", "/none"}, []string{"/none is no cgroup"}},
		{"missing command", []string{"record", "-o", "x", "--", "no-such-command"}, []string{`"no-such-command"`, "PATH"}},
		{"command that is none", []string{"record", "-o", "x", "--", "./there"}, []string{"./there is not a program"}},
		{"no rate", []string{"record", "-F", "0", "-o", "x", "-a"}, []string{"-F 0", "4999"}},
		{"output for a file", []string{"record", "-o", "-", "--", "true"}, []string{"standard output", "./-"}},
		{"output for an import", []string{"import", "-o", "-", "there"}, []string{"standard output", "./-"}},
		{"impossible rate", []string{"record", "-F", "100000", "-o", "x", "-a"}, []string{"100000 Hz"}},
		{"summary where output goes", []string{"record", "-o", "x", "--json", "-", "--", "true"}, []string{"--json"}},
		{"summary in a missing folder", []string{"record", "-o", "x", "--json", "none/x", "--", "true"}, []string{"none"}},
		{"unknown cause", []string{"explain", "clock.slow"}, []string{`"clock.slow"`, "clock.slow-source"}},
		{"family of causes", []string{"explain", "clock"}, []string{"clock.vdso-bypassed"}},
		{"nothing like a cause", []string{"explain", "zzzzzz"}, []string{"'culprit explain'"}},
		{"two causes", []string{"explain", "a", "b"}, []string{"not 2"}},
		{"missing recording", []string{"explain", "none.culprit"}, []string{"none.culprit"}},
		{"no recording", []string{"explain", "./there"}, []string{"there"}},
		{"word for doctor", []string{"doctor", "x"}, []string{`"x"`, "culprit doctor --help"}},
		{"doctor into a missing folder", []string{"doctor", "--json", "none/x"}, []string{"folder none"}},
		{"word for restore", []string{"restore", "x"}, []string{`"x"`}},
		{"no folder for man", []string{"man"}, []string{"culprit man man1"}},
		{"nothing to investigate", []string{"investigate"}, []string{"--a"}},
		{"one command of two", []string{"investigate", "--a", "true"}, []string{"--b"}},
		{"too many commands", []string{"investigate", "--a", "true", "--b", "true", "--", "true"}, []string{"not both"}},
		{"bad metric", []string{"investigate", "--a", "true", "--b", "true", "--metric", "x"}, []string{`"x"`}},
		{"bad proof", []string{"investigate", "--a", "true", "--b", "true", "--prove", "x"}, []string{"prove"}},
		{"case that exists", []string{"investigate", "--a", "true", "--b", "true", "--case", "folder"}, []string{"folder"}},
	}
}

// badOfTrials are about experiments.
func badOfTrials() []bad {
	return []bad{
		{"nothing to try", []string{"try"}, []string{"--vary"}},
		{"no file to try", []string{"try", "none.yaml"}, []string{"none.yaml", "--vary"}},
		{"file that is no experiment", []string{"try", "there"}, []string{"there"}},
		{"factor without levels", []string{"try", "--vary", "n", "--", "true"}, []string{"NAME=V1,V2"}},
		{"one level", []string{"try", "--vary", "n=1", "--", "echo {n}"}, []string{"two or more"}},
		{"unknown setting", []string{"try", "--vary", "sundial=1,2", "--", "true"}, []string{"sundial", "{sundial}"}},
		{"level that is not offered", []string{"try", "--vary", "clocksource=tsc,sundial", "--", "true"},
			[]string{"sundial", "available"}},
		{"setting that cannot be undone", []string{"try", "--vary", "audit=0,1", "--", "true"}, []string{"audit"}},
		{"unknown design", []string{"try", "--vary", "n=1,2", "--design", "best", "--", "echo {n}"}, []string{"best"}},
		{"no command to try", []string{"try", "--vary", "vm.swappiness=60,10"}, []string{"no command"}},
		{"service without a level to flip", []string{"try", "-p", "1", "--vary", "env.A=1,2"}, []string{"running service"}},
		{"measure without a service", []string{"try", "--vary", "n=1,2", "--measure", "x", "--", "{n}"}, []string{"-p PID"}},
		{"resume of nothing", []string{"try", "--resume", "folder"}, []string{"folder", "no experiment"}},
		{"resume with more", []string{"try", "--resume", "folder", "--rehearse"}, []string{"alone"}},
		{"case to try in that exists", []string{"try", "--vary", "n=1,2", "--case", "folder", "--", "echo {n}"},
			[]string{"folder exists"}},
		{"try that fails", []string{"try", "--vary", "n=3,4", "--case", "c", "--", "echo why >&2; exit {n}"},
			[]string{"why"}},
		{"no service", []string{"tail"}, []string{"-p PID"}},
		{"two services", []string{"tail", "-p", "1", "port:80"}, []string{"only one"}},
		{"nobody listens", []string{"tail", "port:1"}, []string{"nobody listens"}},
		{"no process", []string{"tail", "-p", "4000000"}, []string{"4000000"}},
		{"impossible worst", []string{"tail", "-p", "1", "--worst", "most"}, []string{"most"}},
		{"no such service", []string{"tail", "shop"}, []string{"shop"}},
		{"no monitor", []string{"overhead", "--", "true"}, []string{"--monitor"}},
		{"monitor without a workload", []string{"overhead", "--monitor", "true"}, []string{"no command"}},
		{"monitor of a service that is not there", []string{"overhead", "--monitor", "x", "-p", "999999999"},
			[]string{"no process 999999999"}},
		{"monitor of a service and a command", []string{"overhead", "--monitor", "x", "-p", "1", "--", "true"},
			[]string{"starts no command"}},
		{"period without a service", []string{"overhead", "--monitor", "x", "--period", "1s", "--", "true"},
			[]string{"-p PID"}},
		{"metric that nothing prints", []string{"overhead", "--monitor", "x", "-p", "1", "--metric", "n=(.*)"},
			[]string{"--measure"}},
		{"impossible budget", []string{"overhead", "--monitor", "x", "--budget", "much", "--", "true"}, []string{"much"}},
		{"monitor that fails", []string{"overhead", "--monitor", "echo why >&2; exit 4", "--case", "c", "--", "true"},
			[]string{"why"}},
		{"command that fails", []string{"investigate", "--a", "true", "--b", "echo why >&2; exit 4", "--case", "c",
			"--budget", "10s"}, []string{"why"}},
	}
}

// badOfServing are about serve, and pages of recordings.
func badOfServing() []bad {
	return []bad{
		{"directory to serve that is missing", []string{"serve", "none", "--listen", "127.0.0.1:0"},
			[]string{"no directory", "none; make it"}},
		{"file to serve", []string{"serve", "there", "--listen", "127.0.0.1:0"}, []string{"serve", "there", "directory"}},
		{"two directories to serve", []string{"serve", "a", "b"}, []string{"one directory", "not 2"}},
		{"address without a port", []string{"serve", "--listen", "here"}, []string{`"here"`, "HOST:PORT"}},
		{"open to others without a token", []string{"serve", "--listen", "0.0.0.0:0"}, []string{"0.0.0.0:0", "--token-file"}},
		{"token file that is missing", []string{"serve", "--token-file", "none"}, []string{"read token", "none"}},
		{"token file for everybody", []string{"serve", "--token-file", "there"}, []string{"there", "chmod 600"}},
		{"certificate without its key", []string{"serve", "--tls-cert", "there"}, []string{"--tls-key"}},
		{"nothing to check", []string{"ci"}, []string{"--a CMD --b CMD", "--baseline DIR"}},
		{"one side to check", []string{"ci", "--a", "true"}, []string{"--b"}},
		{"check of both kinds", []string{"ci", "--a", "true", "--b", "true", "--baseline", "d"}, []string{"not both"}},
		{"save without a place", []string{"ci", "--save", "--", "true"}, []string{"--baseline DIR"}},
		{"baseline that is missing", []string{"ci", "--baseline", "none", "--", "true"}, []string{"none", "--save"}},
		{"baseline of too few", []string{"ci", "--baseline", "folder", "--", "true"}, []string{"0 batches", "--save"}},
		{"check that fails always", []string{"ci", "--a", "true", "--b", "true", "--fail-over", "0%"}, []string{"0.1%"}},
		{"check without a unit", []string{"ci", "--a", "true", "--b", "true", "--fail-over", "5"}, []string{"5%"}},
		{"too few to keep", []string{"ci", "--baseline", "d", "--save", "--batches", "1", "--", "true"},
			[]string{"--batches 1"}},
		{"baseline of a hub without a token",
			[]string{"ci", "--hub", "http://localhost:1", "--baseline", "app", "--", "true"},
			[]string{"--token-file", "--scope read"}},
		{"baseline of a hub without a name", []string{"ci", "--hub", "http://localhost:1", "--a", "true", "--b", "true"},
			[]string{"--baseline NAME"}},
		{"token without a hub", []string{"ci", "--baseline", "app", "--token-file", "there", "--", "true"},
			[]string{"--token-file", "--hub URL"}},
		{"two fleets to serve", []string{"serve", "--hub", "http://localhost:1", "--store", "folder"},
			[]string{"two places"}},
		{"fleet to serve without a token", []string{"serve", "--hub", "http://localhost:1"}, []string{"--hub-token-file"}},
		{"fleet to serve that is missing", []string{"serve", "--store", "none"}, []string{"--store none is no directory"}},
		{"tenant of no fleet", []string{"serve", "--tenant", "red"}, []string{"--store DIR"}},
		{"page of no case", []string{"explain", "--html", "x.html"}, []string{"--html", "FILE.culprit"}},
		{"page of a cause", []string{"explain", "--html", "x.html", "lock.contended"}, []string{"--html"}},
		{"page that exists", []string{"explain", "--html", "there", "rec.culprit"}, []string{"there exists"}},
		{"descriptor that is not open", []string{"record", "--progress-fd", "99", "-o", "x", "-a"},
			[]string{"--progress-fd 99"}},
	}
}

// badOfCounting are about counters.
func badOfCounting() []bad {
	return []bad{
		{"two things to count", []string{"count", "-a", "-p", "1"}, []string{"only one"}},
		{"process to count that is not there", []string{"count", "-p", "999999999"}, []string{"no process 999999999"}},
		{"cgroup to count that is none", []string{"count", "--cgroup", "folder"}, []string{"folder is no cgroup"}},
		{"command to count that is not there", []string{"count", "--", "no-such-command"}, []string{"no-such-command"}},
		{"unknown to whom", []string{"count", "--by", "kernel"}, []string{`"kernel"`, "cgroup, process, thread, cpu"}},
		{"process by CPU", []string{"count", "--by", "cpu", "-p", "1"}, []string{"cannot be mixed"}},
		{"process by cgroup", []string{"count", "--by", "cgroup", "-p", "1"}, []string{"by process or thread"}},
		{"interval that is too short", []string{"count", "-i", "1us"}, []string{"1µs", "-i 1s"}},
		{"negative time to count", []string{"count", "-d", "-1s"}, []string{"negative"}},
		{"negative rows", []string{"count", "--top", "-1"}, []string{"--top -1"}},
		{"misspelt event", []string{"count", "-e", "page-fault"}, []string{`"page-fault"`, "did you mean page-faults"}},
		{"unknown event", []string{"count", "-e", "sundial"}, []string{`"sundial"`, "culprit count --list"}},
		{"event of no PMU", []string{"count", "-e", "sundial/x/"}, []string{`no PMU "sundial"`}},
		{"group without an end", []string{"count", "-e", "{cs"}, []string{"not closed"}},
		{"two lists on one output", []string{"count", "--json", "-", "--csv", "-"}, []string{"both"}},
		{"list over the command's output", []string{"count", "--json", "-", "--", "true"},
			[]string{"belongs to the command"}},
		{"counts into a missing folder", []string{"count", "--json", "none/x"}, []string{"folder none"}},
		{"counts for everybody", []string{"count", "--listen", "0.0.0.0:0"}, []string{"--token-file"}},
		{"address without a port", []string{"count", "--listen", "here"}, []string{"--listen here", "127.0.0.1:9101"}},
		{"token without an address", []string{"count", "--token-file", "there"}, []string{"--listen"}},
		{"token that is none", []string{"count", "--listen", "127.0.0.1:0", "--token-file", "there"}, []string{"one word"}},
		{"command with a list of events", []string{"count", "--list", "--", "true"}, []string{"--list"}},
	}
}

// badOfSearches are about searches for a commit or a version.
func badOfSearches() []bad {
	typed := func(more ...string) []string {
		return append([]string{"bisect", "--good", "1.0", "--bad", "2.0"}, more...)
	}
	versions := func(more ...string) []string {
		return typed(append([]string{"--package", "pypi:none", "--versions", "1.0,1.5,2.0"}, more...)...)
	}
	return []bad{
		{"nothing to search", []string{"bisect"}, []string{"--good"}},
		{"no bad end", []string{"bisect", "--good", "x", "--", "true"}, []string{"--bad"}},
		{"no command to search with", typed(), []string{"after --"}},
		{"no repository", typed("--", "true"), []string{"no git repository", "--repo"}},
		{"repository that is a file", typed("--repo", "there", "--", "true"), []string{"there is not a folder"}},
		{"unknown order", typed("--order", "date", "--", "true"), []string{"date", "first-parent"}},
		{"unknown ecosystem", typed("--package", "gem:rails", "--", "true"), []string{"gem:rails", "pypi:NAME"}},
		{"package that is an option", typed("--package", "pypi:--pre", "--", "true"), []string{`"--pre"`}},
		{"maven without a group", typed("--package", "maven:guava", "--", "true"), []string{"maven:GROUP:ARTIFACT"}},
		{"build of a package", typed("--package", "npm:x", "--build", "make", "--", "true"), []string{"--install"}},
		{"install of a commit", typed("--install", "true", "--", "true"), []string{"--package"}},
		{"versions of a commit", typed("--versions", "1,2", "--", "true"), []string{"--package"}},
		{"order of versions", typed("--package", "npm:x", "--order", "topological", "--", "true"), []string{"--order"}},
		{"version that is a command", []string{"bisect", "--package", "npm:x", "--good", "$(x)", "--bad", "2", "--", "true"},
			[]string{`--good "$(x)"`}},
		{"end that is not among the versions", typed("--package", "npm:x", "--versions", "1.1,2.0", "--", "true"),
			[]string{"--versions must hold"}},
		{"bad metric to search by", versions("--metric", "x", "--", "true"), []string{`"x"`}},
		{"impossible difference", versions("--smallest", "0", "--", "true"), []string{"smallest difference"}},
		{"too few trials", versions("--trials", "2", "--", "true"), []string{"--trials 2"}},
		{"negative timeout", versions("--timeout", "-1s", "--", "true"), []string{"negative"}},
		{"case to search in that exists", versions("--case", "folder", "--", "true"), []string{"folder exists", "--resume"}},
		{"search to go on with that is none", []string{"bisect", "--resume", "folder"}, []string{"folder", "no search"}},
		{"search to go on with and more", []string{"bisect", "--resume", "folder", "--good", "x"}, []string{"alone"}},
		{"result in a missing folder", versions("--json", "none/x", "--", "true"), []string{"folder none"}},
		{"end that cannot be installed", versions("--install", "echo why >&2; exit 3", "--case", "c", "--", "true"),
			[]string{"good end 1.0", "build fails", "why"}},
		{"end that fails", versions("--install", "true", "--case", "c", "--", "echo why >&2; exit 4"),
			[]string{"good end 1.0", "command fails", "why"}},
	}
}

func TestBadInput(t *testing.T) {
	for _, each := range slices.Concat(badOfRecording(), badOfTrials(), badOfCounting(), badOfServing(), badOfSearches(),
		badOfAgents()) {
		t.Run(each.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "there"), []byte("no recording"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(folder, "folder"), 0o755); err != nil {
				t.Fatal(err)
			}
			got := apart(t, folder, each.args...)
			oneLine(t, got, each.want...)
			if got.stdout != "" {
				t.Errorf("it prints %q", got.stdout)
			}
			left, err := os.ReadDir(folder)
			if err != nil || len(left) != 2 {
				t.Errorf("it leaves %v, %v", left, err)
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root may write anywhere but where the file system is read-only.
		if err := checkOutput("/sys/kernel/x", false); err == nil || !strings.Contains(err.Error(), "/sys/kernel") {
			t.Errorf("a file in /sys/kernel: %v", err)
		}
		return
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	oneLine(t, apart(t, folder, "record", "-o", "x", "--", "true"), "folder .")
}

// A device must stay what it is: a file renamed over /dev/null would break the host.
func TestJSONIntoADevice(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	made := command(t, folder, "explain", "--json", path, "lock.contended")
	if err := made.Start(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err := made.Wait(); err != nil {
		t.Error(err)
	}
	info, statErr := os.Lstat(path)
	if err != nil || statErr != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("%v, %v: %v", err, statErr, info.Mode())
	}
	if !strings.Contains(string(content), causeSchema) {
		t.Errorf("through the pipe came %q", content)
	}
}
