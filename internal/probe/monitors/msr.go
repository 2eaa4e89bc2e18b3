package monitors

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// Register is how often a model-specific register of the CPU was written or read.
type Register struct {
	Number uint32 `json:"number"`
	Name   string `json:"name,omitempty"`
	Writes uint64 `json:"writes,omitempty"`
	Reads  uint64 `json:"reads,omitempty"`
	// Counters: it is one of those that performance counters are programmed by and read from.
	Counters bool `json:"counters,omitempty"`
}

// ErrNoRegisters is where the kernel has no tracepoints of such registers: another machine than
// x86, or not built in.
var ErrNoRegisters = errors.New("this kernel has no tracepoints of model-specific registers")

// Registers watches the whole host for a while and tells which registers were written and read, the
// most used first. Reads and writes that the kernel does not trace (those of its own hot paths) are
// not seen.
func Registers(lasts time.Duration) ([]Register, error) {
	collection, err := loaded()
	if err != nil {
		return nil, fmt.Errorf("count registers: %w", err)
	}
	defer collection.Close()
	for program, tracepoint := range map[string]string{"wrote_msr": "write_msr", "read_msr": "read_msr"} {
		attached, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: tracepoint,
			Program: collection.Programs[program]})
		if errors.Is(err, os.ErrNotExist) {
			return nil, ErrNoRegisters
		}
		if err != nil {
			return nil, fmt.Errorf("count registers: attach %s: %w", tracepoint, err)
		}
		defer attached.Close()
	}
	time.Sleep(lasts)
	return registersOf(collection.Maps["msrs"])
}

func registersOf(counts *ebpf.Map) ([]Register, error) {
	byNumber := map[uint32]*Register{}
	var key monitorsMsrKey
	var perCPU []uint64
	entries := counts.Iterate()
	for entries.Next(&key, &perCPU) {
		made := byNumber[key.Number]
		if made == nil {
			name, counters := nameOf(key.Number)
			made = &Register{Number: key.Number, Name: name, Counters: counters}
			byNumber[key.Number] = made
		}
		for _, count := range perCPU {
			if key.Write == 1 {
				made.Writes += count
			} else {
				made.Reads += count
			}
		}
	}
	if err := entries.Err(); err != nil {
		return nil, fmt.Errorf("count registers: %w", err)
	}
	var found []Register
	for _, each := range byNumber {
		found = append(found, *each)
	}
	slices.SortFunc(found, func(a, b Register) int {
		return cmp.Or(cmp.Compare(b.Writes+b.Reads, a.Writes+a.Reads), cmp.Compare(a.Number, b.Number))
	})
	return found, nil
}

// named are ranges of registers (Intel SDM volume 4, AMD APM volume 2), those of counters first.
var named = []struct {
	from, to uint32
	name     string
	counters bool
}{
	{0xc1, 0xc8, "counter", true},
	{0x186, 0x18d, "event of a counter", true},
	{0x309, 0x30d, "fixed counter", true},
	{0x38d, 0x390, "control of counters", true},
	{0x3f1, 0x3f7, "sampling of counters", true},
	{0x4c1, 0x4c8, "counter", true},
	{0xc0000300, 0xc0000302, "control of counters", true},
	{0xc0010000, 0xc0010003, "event of a counter", true},
	{0xc0010004, 0xc0010007, "counter", true},
	{0xc0010200, 0xc001020b, "counter and its event", true},
	{0x10, 0x10, "time stamp counter", false},
	{0x48, 0x48, "speculation control", false},
	{0x6e0, 0x6e0, "deadline of the timer", false},
	{0x80b, 0x80b, "end of interrupt", false},
	{0x830, 0x830, "interrupt to another CPU", false},
	{0x838, 0x838, "count of the timer", false},
	{0xc0000100, 0xc0000102, "segment base", false},
	{0xc0000103, 0xc0000103, "number of the CPU", false},
}

func nameOf(number uint32) (name string, counters bool) {
	for _, each := range named {
		if each.from <= number && number <= each.to {
			return each.name, each.counters
		}
	}
	return "", false
}
