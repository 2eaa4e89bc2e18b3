package goroutine

import (
	"bufio"
	"debug/elf"
	"debug/gosym"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waits starts a program whose goroutines wait, and tells where each is.
func waits(t *testing.T) (pid int32, program string, at map[string]uint64) {
	t.Helper()
	program, _ = filepath.Abs("testdata/built/waits") // an emulated guest has no compiler: see cases/guest
	if _, err := os.Stat(program); err != nil {
		program = filepath.Join(t.TempDir(), "waits")
		build := exec.Command("go", "build", "-o", program, ".")
		build.Dir = "testdata/waits"
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, said)
		}
	}
	command := exec.Command(program)
	command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = input.Close(), command.Wait() })
	at = map[string]uint64{}
	for lines := bufio.NewScanner(output); lines.Scan() && !strings.HasPrefix(lines.Text(), "ready"); {
		name, address, _ := strings.Cut(lines.Text(), " ")
		if at[name], err = strconv.ParseUint(address, 16, 64); err != nil {
			t.Fatal(err)
		}
	}
	return int32(command.Process.Pid), program, at
}

// names are the functions of a stack, leaf first.
func names(t *testing.T, program string, stack []uint64) string {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := file.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(lines, file.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, address := range stack {
		if function := table.PCToFunc(address - 1); function != nil {
			all = append(all, function.Name)
		}
	}
	return strings.Join(all, " ")
}

func TestWaits(t *testing.T) {
	pid, path, at := waits(t)
	program, err := Open(pid)
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 && errors.Is(readable(pid, at["lock"]), unix.EPERM) {
		t.Skip("only root may read the memory of other processes here")
	}
	for name, wanted := range map[string][]string{
		"lock":    {"runtime.gopark", "sync.runtime_SemacquireRWMutexR", "main.waitForLock", "main.told.func1"},
		"sleep":   {"runtime.gopark", "time.Sleep", "main.waitForTime", "main.told.func1"},
		"channel": {"runtime.gopark", "runtime.chanrecv", "main.waitForNews", "main.told.func1"},
	} {
		now, ok := program.At(at[name])
		got := names(t, path, now.Stack)
		if !ok || now.Tid != 0 || now.Runnable || !strings.HasPrefix(got, "runtime.gopark ") {
			t.Errorf("%s: %+v, %v, at %s", name, now, ok, got)
		}
		for _, function := range wanted {
			if !strings.Contains(got+" ", function+" ") {
				t.Errorf("%s: no %s in %s", name, function, got)
			}
		}
	}
	for _, name := range []string{"spin", "call"} {
		now, ok := program.At(at[name])
		// One that spins is taken off its thread now and then, and waits to be put on one again.
		for over := time.Now().Add(5 * time.Second); ok && now.Runnable && time.Now().Before(over); {
			time.Sleep(time.Millisecond)
			now, ok = program.At(at[name])
		}
		task := "/proc/" + strconv.Itoa(int(pid)) + "/task/" + strconv.Itoa(int(now.Tid))
		if _, err := os.Stat(task); !ok || now.Tid == 0 || err != nil {
			t.Errorf("%s: %+v, %v: %v", name, now, ok, err)
		}
	}
	for _, wrong := range []uint64{0, 1, 8, at["lock"] + 8, at["lock"] - 8, ^uint64(7)} {
		if now, ok := program.At(wrong); ok {
			t.Errorf("at %x: %+v", wrong, now)
		}
	}
}

func readable(pid int32, address uint64) error {
	var byte [1]byte
	local := []unix.Iovec{{Base: &byte[0], Len: 1}}
	_, err := unix.ProcessVMReadv(int(pid), local, []unix.RemoteIovec{{Base: uintptr(address), Len: 1}}, 0)
	return err
}

// What the memory of a process holds is anything.
func TestHostileStack(t *testing.T) {
	p := &Program{pid: os.Getpid(), own: map[uint64]int32{}, listed: time.Now()}
	words := make([]uint64, 64)
	low := addressOf(words)
	high := low + 8*uint64(len(words))
	for _, fp := range []uint64{0, low - 8, low + 1, high - 8, high, ^uint64(0), ^uint64(7), low} {
		words[0] = fp // or it leads to itself
		words[1] = 7
		if got := p.stack(low+8, 5, fp, [2]uint64{low, high}); len(got) == 0 || len(got) > 2 {
			t.Errorf("frame pointer %x: %x", fp, got)
		}
	}
	for i := range words { // a chain through all of it
		words[i] = low + 8*uint64(i) + 8
	}
	if got := p.stack(low+8, 5, low, [2]uint64{low, high}); len(got) != mostFrames {
		t.Errorf("%d frames", len(got))
	}
	for _, bounds := range [][2]uint64{{high, low}, {0, ^uint64(0)}, {low + 8, high}} {
		_ = p.stack(low, 5, low, bounds) // does not panic
	}
}

func TestLayouts(t *testing.T) {
	for goVersion, wanted := range map[string]layout{
		"go1.17": {104, 144, 72}, "go1.22.12": {104, 144, 72}, "go1.23.12": {104, 152, 72}, "go1.24.12": {104, 152, 72},
		"go1.25.7": {96, 144, 64}, "go1.26rc2": {96, 144, 64}, "go1.30": {96, 144, 64},
	} {
		if got, err := layoutOf(goVersion); err != nil || got != wanted {
			t.Errorf("%s: %+v, %v; wanted %+v", goVersion, got, err, wanted)
		}
	}
	for _, goVersion := range []string{"go1.16.15", "", "gccgo 12", "x"} {
		if got, err := layoutOf(goVersion); !errors.Is(err, ErrNotGo) {
			t.Errorf("%q: %+v, %v", goVersion, got, err)
		}
	}
	if _, err := Open(1 << 30); !errors.Is(err, ErrNotGo) {
		t.Errorf("no process: %v", err)
	}
}

func addressOf(words []uint64) uint64 { return uint64(uintptr(unsafe.Pointer(&words[0]))) }
