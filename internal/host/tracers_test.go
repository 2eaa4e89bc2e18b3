package host

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

func TestTracersOfAFixture(t *testing.T) {
	root := plant(t, map[string]string{
		"proc/10/comm": "bpftrace\n", "proc/10/status": "TracerPid:\t0\n",
		"proc/10/fd/3": "→ anon_inode:bpf-prog", "proc/10/fdinfo/3": "prog_type:\t17\nprog_tag:\t6deef7357e7b4530\n",
		"proc/10/fd/4": "→ anon_inode:bpf_link", "proc/10/fdinfo/4": "link_type:\traw_tracepoint\ntp_name:\tsys_enter\n",
		"proc/10/fd/5": "→ anon_inode:bpf-map", "proc/10/fd/6": "→ /dev/null",
		// A service manager's device filter is no tracer.
		"proc/1/comm": "systemd\n", "proc/1/fd/9": "→ anon_inode:bpf-prog", "proc/1/fdinfo/9": "prog_type:\t15\n",
		"proc/20/comm": "perf\n", "proc/20/fd/3": "→ anon_inode:[perf_event]",
		"proc/20/fd/4": "→ anon_inode:[perf_event]",
		"proc/30/comm": "strace\n", "proc/30/status": "Tgid:\t30\n",
		"proc/31/status": "Tgid:\t30\n", // a thread of strace
		"proc/40/comm":   "app\n", "proc/40/status": "TracerPid:\t31\n",
		"proc/50/comm": "culprit\n", "proc/50/fd/3": "→ anon_inode:[perf_event]",
		"proc/self/mountinfo":              "1 0 0:1 / /tr rw - tracefs tracefs rw\n",
		"tr/current_tracer":                "nop\n",
		"tr/set_event":                     "bpf_trace:bpf_trace_printk\n",
		"tr/events/enable":                 "X\n",
		"tr/instances/mine/current_tracer": "nop\n",
		"tr/instances/mine/events/enable":  "X\n",
		"tr/instances/mine/set_event":      "raw_syscalls:sys_enter\n",
	})
	tracers := Tracers(root, 50)
	var texts []string
	for _, tracer := range tracers {
		texts = append(texts, tracer.String())
	}
	want := []string{
		"ftrace/instances/mine: tracing switched on (events raw_syscalls:sys_enter)",
		"bpftrace (pid 10): 1 BPF program, 1 BPF link (raw_tracepoint sys_enter)",
		"perf (pid 20): 2 perf events",
		"strace (pid 30): 1 process under ptrace",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("tracers are\n%s\nwant\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
	const tag = "6deef7357e7b4530"
	if !tracers[1].Holds(tag) || tracers[1].Holds("6deef7357e7b4531") || tracers[2].Holds(tag) {
		t.Error("the tag of bpftrace's program is not known as its own alone")
	}
	expect(t, TracerFacts(tracers), map[string]string{
		"tracers.bpf": "bpftrace ×1", "tracers.perf": "perf ×2", "tracers.ptrace": "strace ×1",
		"tracers.ftrace": "ftrace/instances/mine ×1",
	})
	expect(t, TracerFacts(nil), map[string]string{"tracers.bpf": "none", "tracers.ptrace": "none"})
}

func TestRealPerfEventIsFound(t *testing.T) {
	attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK,
		Bits: unix.PerfBitExcludeKernel}
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	event, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		t.Fatalf("open a software event of our own: %v", err)
	}
	defer unix.Close(event)
	own := func(tracer Tracer) bool { return tracer.Pid == os.Getpid() && tracer.PerfEvents > 0 }
	if !slices.ContainsFunc(Tracers("/"), own) {
		t.Error("our own perf event is not found")
	}
	if slices.ContainsFunc(Tracers("/", os.Getpid()), own) {
		t.Error("our own perf event is listed although excluded")
	}
}

func TestRealBPFProgramIsFound(t *testing.T) {
	if !byName(Capabilities())["CAP_BPF"].Available {
		t.Skip("this process has no CAP_BPF")
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.RawTracepoint, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
	if err != nil {
		t.Fatalf("load a program of two instructions: %v", err)
	}
	defer program.Close()
	attached, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sched_process_exit", Program: program})
	if err != nil {
		t.Fatalf("attach it: %v", err)
	}
	defer attached.Close()
	// A filter on a socket watches nobody else.
	filter, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
	if err != nil {
		t.Fatalf("load a socket filter: %v", err)
	}
	defer filter.Close()
	for _, tracer := range Tracers("/") {
		if tracer.Pid != os.Getpid() {
			continue
		}
		if tracer.BPFPrograms != 1 || tracer.BPFLinks != 1 ||
			!slices.Contains(tracer.Details, "raw_tracepoint sched_process_exit") {
			t.Errorf("found %+v, want one program and one link on sched_process_exit", tracer)
		}
		return
	}
	t.Error("our own BPF program is not found")
}

func TestRealPtraceIsFound(t *testing.T) {
	// ptrace belongs to a thread: the one that starts the traced process must end it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command := exec.Command("sleep", "30")
	command.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := command.Start(); err != nil {
		t.Fatalf("start a traced process: %v", err)
	}
	defer func() { _ = command.Process.Kill(); _ = command.Wait() }()
	found := slices.ContainsFunc(Tracers("/"), func(tracer Tracer) bool {
		return tracer.Pid == os.Getpid() && slices.Contains(tracer.Ptraced, command.Process.Pid)
	})
	if !found {
		t.Errorf("ptrace of %d is not found in %v", command.Process.Pid, Tracers("/"))
	}
	name := lookUp(TargetFacts("/", command.Process.Pid), FactTargetTracer)
	if comm := (tree{"/"}).line("/proc/self/comm"); name != comm {
		t.Errorf("the target's tracer is %q, want %q", name, comm)
	}
}
