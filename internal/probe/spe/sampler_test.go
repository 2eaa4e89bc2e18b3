package spe

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// fake is a ring that no kernel writes.
func fake(size int) *ring {
	return &ring{fd: -1, base: make([]byte, 2*os.Getpagesize()), buffer: make([]byte, size)}
}

// write adds to the buffer as the kernel does.
func (r *ring) write(data []byte) {
	page := r.page()
	for _, one := range data {
		r.buffer[page.Aux_head%uint64(len(r.buffer))] = one
		page.Aux_head++
	}
	page.Data_head += 40 // a note
}

// Records are taken once, also those that go over the buffer's end.
func TestTake(t *testing.T) {
	one := fake(256)
	sampler := &Sampler{rings: []*ring{one}, pending: make([]byte, 256)}
	record := packets(t, userStore)
	for range 40 {
		one.write(record)
		one.write(record)
		var got []Record
		if !sampler.Take(func(r *Record) { got = append(got, *r) }) {
			t.Fatal("it is not read")
		}
		if len(got) != 2 || got[0] != got[1] || got[0].Tid != 1234 {
			t.Fatalf("taken %+v", got)
		}
	}
	page := one.page()
	if page.Aux_tail != page.Aux_head || page.Data_tail != page.Data_head || sampler.broken != 0 {
		t.Errorf("given back up to %d of %d and %d of %d, %d bytes broken", page.Aux_tail, page.Aux_head, page.Data_tail,
			page.Data_head, sampler.broken)
	}
}

// What is no packets is given up; a little of it is not.
func TestTakeGarbage(t *testing.T) {
	for name, test := range map[string]struct {
		garbage  int // bytes in front of each record
		readable bool
	}{"a little": {1, true}, "much": {20, false}} {
		t.Run(name, func(t *testing.T) {
			one := fake(1 << 14)
			sampler := &Sampler{rings: []*ring{one}, pending: make([]byte, 1<<14)}
			for range 160 {
				one.write(slices.Repeat([]byte{0xff}, test.garbage))
				one.write(packets(t, userStore))
			}
			if readable := sampler.Take(func(*Record) {}); readable != test.readable {
				t.Errorf("readable: %v, %d of %d bytes broken", readable, sampler.broken, sampler.read)
			}
		})
	}
}

// An event that writes to no buffer of this kind is refused, and nothing is left open.
func TestOpenRefused(t *testing.T) {
	before, _ := os.ReadDir("/proc/self/fd")
	attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK}
	if _, err := Open(attributes, []int{0}, 1e6); err == nil {
		t.Error("the clock of the CPU writes no records")
	}
	if after, _ := os.ReadDir("/proc/self/fd"); len(after) != len(before) {
		t.Errorf("%d files open before, %d since", len(before), len(after))
	}
}
