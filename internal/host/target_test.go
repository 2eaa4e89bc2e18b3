package host

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTargetFactsOfAFixture(t *testing.T) {
	files := machine()
	process := "proc/42/"
	files[process+"status"] = "Name:\tjava\nTracerPid:\t0\nSeccomp:\t2\nSeccomp_filters:\t3\nCpus_allowed_list:\t0-1,3\n" +
		"THP_enabled:\t1\nSpeculation_Store_Bypass:\tthread force mitigated\n"
	files[process+"task/42/status"] = "TracerPid:\t0\n"
	files[process+"task/43/status"] = "TracerPid:\t77\n"
	files["proc/77/comm"] = "gdb\n"
	files[process+"stat"] = "42 (ev) il (x) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 -5 " +
		"2 0 99 1000 20 18446744073709551615 " +
		"1 1 0 0 0 0 0 0 0 0 0 0 17 1 50 2 0 0 0\n"
	files[process+"limits"] = "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max open files            1024                 524288               files     \n" +
		"Max locked memory         8388608              unlimited            bytes     \n"
	files[process+"oom_score_adj"] = "-500\n"
	files[process+"timerslack_ns"] = "50000\n"
	files[process+"cmdline"] = "java\x00-jar\x00x.jar\x00--password=hunter2\x00-Dapi.key=k1\x00postgres://u:pw@db/x\x00"
	files[process+"environ"] = "GOGC=50\x00AWS_SECRET_ACCESS_KEY=nope\x00MALLOC_ARENA_MAX=2\x00LD_PRELOAD=\x00" +
		"JAVA_TOOL_OPTIONS=-Xmx1g -Dkeystore.password=geheim\x00GOGC=99\x00HOME=/root\x00noequals\x00"
	files[process+"cgroup"] = "0::/web\n"
	root := plant(t, files)
	if err := os.Symlink("/usr/bin/java", filepath.Join(root, process, "exe")); err != nil {
		t.Fatal(err)
	}
	facts := TargetFacts(root, 42)
	expect(t, facts, map[string]string{
		"target.seccomp": "filter", "target.seccomp_filters": "3", "target.tracer": "gdb", "target.affinity": "0-1,3",
		"target.nice": "-5", "target.policy": "SCHED_RR", "target.realtime_priority": "50", "target.thp": "1",
		"target.speculation_store_bypass": "thread force mitigated",
		"target.limit.open_files":         "1024 / 524288", "target.limit.locked_memory_bytes": "8388608 / unlimited",
		"target.oom_score_adj": "-500", "target.timerslack_ns": "50000",
		"target.command":          "java -jar x.jar --password=[hidden] -Dapi.key=[hidden] postgres://u:[hidden]@db/x",
		"target.environment.GOGC": "50", "target.environment.MALLOC_ARENA_MAX": "2",
		"target.environment.LD_PRELOAD":        "(empty)",
		"target.environment.JAVA_TOOL_OPTIONS": "-Xmx1g -Dkeystore.password=[hidden]",
		"target.environment.HOME":              "", "target.environment.AWS_SECRET_ACCESS_KEY": "",
		"target.cgroup.path": "/web", "target.cgroup.memory.limit_bytes": "1073741824",
	})
	for _, fact := range facts {
		for _, secret := range []string{"hunter2", "k1", ":pw", "nope", "geheim"} {
			if strings.Contains(fact.Value, secret) {
				t.Errorf("%s shows a secret: %q", fact.Name, fact.Value)
			}
		}
		if strings.Contains(fact.Source, "/42/") {
			t.Errorf("source %q of %s names a pid and cannot be compared", fact.Source, fact.Name)
		}
	}
}

func TestTargetFactsOfARealProcess(t *testing.T) {
	command := exec.Command("sleep", "30")
	command.Env = []string{"MALLOC_ARENA_MAX=3", "DB_PASSWORD=x"}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = command.Process.Kill(); _ = command.Wait() }()
	// Start returns when the descriptors are closed for exec, a moment before the environment is in
	// place: until then it is that of this process, whose memory the new one shares.
	environment := fmt.Sprintf("/proc/%d/environ", command.Process.Pid)
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if text, err := os.ReadFile(environment); err == nil && strings.HasPrefix(string(text), command.Env[0]) {
			break
		}
	}
	facts := TargetFacts("/", command.Process.Pid)
	expect(t, facts, map[string]string{
		"target.tracer": "none", "target.policy": "SCHED_OTHER", "target.environment.MALLOC_ARENA_MAX": "3",
		"target.environment.DB_PASSWORD": "",
	})
	if lookUp(facts, "target.affinity") == "" || lookUp(facts, FactTargetSeccomp) == "" {
		t.Errorf("affinity or seccomp is missing in %v", facts)
	}
}

func TestTargetThatIsGoneHasNoFacts(t *testing.T) {
	for _, pid := range []int{-1, 0, 1 << 30} {
		if facts := TargetFacts("/", pid); facts != nil {
			t.Errorf("pid %d has facts %v", pid, facts)
		}
	}
}

// A process that has ended and was not waited for has no memory to read of, though it is there; a
// thread of the kernel never had any, and has its scheduling all the same.
func TestTargetThatEndsHasNoFacts(t *testing.T) {
	command := exec.Command("true")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = command.Wait() }()
	if err := unix.Waitid(unix.P_PID, command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if facts := TargetFacts("/", command.Process.Pid); facts != nil {
		t.Errorf("a process that has ended has facts %v", facts)
	}
	const kthreadd = 2
	if name, _ := os.ReadFile("/proc/2/comm"); string(name) != "kthreadd\n" {
		return // in a container its own processes have these numbers
	}
	if facts := TargetFacts("/", kthreadd); lookUp(facts, "target.policy") != "SCHED_OTHER" {
		t.Errorf("a thread of the kernel has the facts %v", facts)
	}
}

func TestRedactKeepsWhatIsNoSecret(t *testing.T) {
	for text, want := range map[string]string{
		"-Xmx1g -XX:+UseG1GC":          "-Xmx1g -XX:+UseG1GC",
		"--token abc --threads 4":      "--token [hidden] --threads 4",
		`--secret="a b" -v`:            "--secret=[hidden] -v",
		"--author me":                  "--author me",
		"http://host:8080/path":        "http://host:8080/path",
		"redis://:pw@host":             "redis://:[hidden]@host",
		"authorization: Bearer":        "authorization: [hidden]",
		"username=u,password=p,vers=3": "username=u,password=[hidden],vers=3",
	} {
		if found := redact(text); found != want {
			t.Errorf("redact(%q) = %q, want %q", text, found, want)
		}
	}
}

func TestCPUTimes(t *testing.T) {
	root := plant(t, map[string]string{"proc/stat": "cpu  100 20 30 400 50 6 4 70 8 9\ncpu0 1 2 3\n"})
	times, err := ReadCPUTimes(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]float64{"user": {times.User, 1.2}, "system": {times.System, 0.4},
		"idle": {times.Idle, 4}, "I/O wait": {times.IOWait, 0.5}, "steal": {times.Steal, 0.7},
		"total": {times.Total, 6.8}, "busy": {times.Busy(), 1.6}} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s is %v s, want %v", name, pair[0], pair[1])
		}
	}
	later := times
	later.User += 2
	later.Idle -= 0.01
	if passed := later.Since(times); passed.User != 2 || passed.Idle != 0 {
		t.Errorf("passed %+v, want 2 s of user time and no idle time", passed)
	}
	for _, line := range []string{"", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8 9\n",
		"cpu 1 2 3 4 5 6 7 -8\n", "cpu 1 2 3 4 5 6 7 x\n"} {
		bad := plant(t, map[string]string{"proc/stat": line})
		if _, err := ReadCPUTimes(bad); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
	if _, err := ReadCPUTimes(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file gives %v", err)
	}
}
