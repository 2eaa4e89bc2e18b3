package knob

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// sleeper is a process with children of its own: a shell and two sleeps.
func sleeper(t *testing.T) int {
	t.Helper()
	command := exec.Command("/bin/sh", "-c", "sleep 60 & sleep 60 & echo ready; wait")
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		for _, tid := range childrenOf(command.Process.Pid) {
			_ = exec.Command("kill", "-9", strconv.Itoa(tid)).Run()
		}
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return command.Process.Pid
}

// needsNice leaves a test out for users who could not put a setting back.
func needsNice(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("it takes root, or CAP_SYS_NICE, to put nice and policy back")
	}
}

func childrenOf(pid int) []int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) + "/children")
	if err != nil {
		return nil
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		child, _ := strconv.Atoi(field)
		pids = append(pids, child)
	}
	return pids
}

// Every attribute is set on a whole tree and put back, each to what it had itself.
func TestAttributesOfATree(t *testing.T) {
	newState(t)
	pid := sleeper(t)
	child := childrenOf(pid)[0]
	for name, value := range map[string]string{"affinity": "0", "nice": "5", "policy": "batch", "timerslack": "70000",
		"rlimit.nofile": "123"} {
		t.Run(name, func(t *testing.T) {
			if name == "nice" || name == "policy" || name == "timerslack" {
				needsNice(t)
			}
			if name == "nice" { // one of them differs beforehand
				must(t, writeNice(child, "2"))
			}
			attribute, _ := attributeOf(name)
			before, childBefore := read(t, attribute, pid), read(t, attribute, child)
			found, err := Find(name, Target{Pid: pid})
			must(t, err)
			change, err := Begin(t.Context(), found)
			must(t, err)
			must(t, change.Set(name, value))
			for _, each := range []int{pid, child} {
				if got := read(t, attribute, each); got != value && !strings.HasPrefix(got, value+":") {
					t.Errorf("process %d has %s %q, want %q", each, name, got, value)
				}
			}
			must(t, change.Restore())
			if now, nowChild := read(t, attribute, pid), read(t, attribute, child); now != before || nowChild != childBefore {
				t.Errorf("afterwards %q and %q, before %q and %q", now, nowChild, before, childBefore)
			}
		})
	}
}

func read(t *testing.T, attribute attribute, tid int) string {
	t.Helper()
	value, err := attribute.read(tid)
	must(t, err)
	return value
}

// A thread that starts while the knob is flipped inherits the value, and gets back what its creator
// had.
func TestWhatAThreadInheritedIsPutBack(t *testing.T) {
	needsNice(t)
	newState(t)
	command := exec.Command("/bin/sh", "-c", "echo ready; read -r x; sleep 60 & echo started; wait")
	input, err := command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	lines := bufio.NewReader(output)
	_, err = lines.ReadString('\n')
	must(t, err)
	pid := command.Process.Pid
	found, err := Find("nice", Target{Pid: pid})
	must(t, err)
	change, err := Begin(t.Context(), found)
	must(t, err)
	must(t, change.Set("nice", "7"))
	_, err = input.Write([]byte("\n"))
	must(t, err)
	_, err = lines.ReadString('\n')
	must(t, err)
	child := childrenOf(pid)[0]
	attribute, _ := attributeOf("nice")
	if got := read(t, attribute, child); got != "7" {
		t.Errorf("the child has nice %s", got)
	}
	must(t, change.Restore())
	if top, below := read(t, attribute, pid), read(t, attribute, child); top != "0" || below != "0" {
		t.Errorf("afterwards nice is %s and %s", top, below)
	}
	_ = exec.Command("kill", "-9", strconv.Itoa(child), strconv.Itoa(pid)).Run()
	_ = command.Wait()
}

func TestATreeThatEndsNeedsNothing(t *testing.T) {
	needsNice(t)
	state := newState(t)
	command := exec.Command("sleep", "60")
	must(t, command.Start())
	found, err := Find("nice", Target{Pid: command.Process.Pid})
	must(t, err)
	change, err := Begin(t.Context(), found)
	must(t, err)
	must(t, change.Set("nice", "3"))
	must(t, command.Process.Kill())
	_ = command.Wait()
	must(t, change.Restore())
	if left := entries(t, state); len(left) != 0 {
		t.Errorf("the journal still holds %v", left)
	}
	_, err = Find("nice", Target{Pid: command.Process.Pid})
	refused(t, err, "nice", strconv.Itoa(command.Process.Pid))
}

func TestRefusalsOfAttributes(t *testing.T) {
	newState(t)
	_, err := Find("nice", Target{})
	refused(t, err, "-p PID")
	found, err := Find("affinity", Target{Pid: os.Getpid()})
	must(t, err)
	refused(t, found.Check("4000"), "not online")
	refused(t, found.Check("x"), "no list of CPUs")
	limit, err := Find("rlimit.nofile", Target{Pid: os.Getpid()})
	must(t, err)
	refused(t, limit.Check("1:2"), "soft one only")
	if os.Geteuid() == 0 { // others are refused for that
		policy, err := Find("policy", Target{Pid: os.Getpid()})
		must(t, err)
		refused(t, policy.Check("fifo"), "available: other batch idle")
	}
	for _, bad := range []Level{{"nice", "20"}, {"policy", "fifo"}, {"rlimit.nofile", "-1"}, {"rlimit.nofile", "9:3"},
		{"timerslack", "0"}, {"clocksource", "tsc"}} {
		if err := CheckLaunch(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// A command is given its settings while it is held, and its children have them too.
func TestLaunch(t *testing.T) {
	needsNice(t)
	launch, err := NewLaunch(Level{"affinity", "0"}, Level{"nice", "4"}, Level{"policy", "batch"},
		Level{"timerslack", "60000"}, Level{"rlimit.nofile", "77"})
	must(t, err)
	command := exec.Command("/bin/sh", "-c", "read -r x; sleep 60 & echo $!; wait")
	input, err := command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	defer func() { _ = command.Process.Kill(); _ = command.Wait() }()
	must(t, launch.Apply(command.Process.Pid))
	_, err = input.Write([]byte("\n"))
	must(t, err)
	line, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(line))
	must(t, err)
	defer func() { _ = exec.Command("kill", "-9", strconv.Itoa(child)).Run() }()
	for _, level := range launch.levels {
		attribute, _ := attributeOf(level.Name)
		if got := read(t, attribute, child); got != level.Value && !strings.HasPrefix(got, level.Value+":") {
			t.Errorf("the child has %s %s, want %s", level.Name, got, level.Value)
		}
	}
}
