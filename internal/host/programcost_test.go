package host

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

func TestCostBetween(t *testing.T) {
	cost := costBetween(runs{"probe", 1000, 5 * time.Millisecond}, runs{"probe", 3000, 6 * time.Millisecond}, time.Second)
	if cost != (ProgramCost{Name: "probe", Runs: 2000, MeanNs: 500, CPUShare: 0.001}) {
		t.Errorf("%+v", cost)
	}
	if text := cost.String(); text != "program probe ran 2000 times and added 500 ns to each run: 0.10 % of a CPU" {
		t.Error(text)
	}
	still := runs{"probe", 1, 5}
	if text := costBetween(still, still, time.Second).String(); text != "program probe did not run" {
		t.Error(text)
	}
}

// A program of this process, behind each system call of the host, has its price.
func TestPricePrograms(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("loading a BPF program needs root")
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "priced", Type: ebpf.RawTracepoint, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	attached, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sys_enter", Program: program})
	if err != nil {
		t.Fatal(err)
	}
	defer attached.Close()
	var mine []Tracer
	for _, tracer := range Tracers("/") {
		if tracer.Pid == os.Getpid() {
			mine = append(mine, tracer)
		}
	}
	if len(mine) != 1 {
		t.Fatalf("this process is seen as %v", mine)
	}
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = os.Stat("/")
			}
		}
	}()
	err = PricePrograms(mine, 100*time.Millisecond)
	close(stop)
	if err != nil {
		t.Fatal(err)
	}
	costs := mine[0].Costs
	if len(costs) != 1 || costs[0].Name != "priced" || costs[0].At != "sys_enter" ||
		costs[0].Runs < 100 || costs[0].MeanNs <= 0 {
		t.Errorf("costs %+v", costs)
	}
	if text := mine[0].String(); !strings.Contains(text, "1 BPF program") {
		t.Error(text)
	}
}
