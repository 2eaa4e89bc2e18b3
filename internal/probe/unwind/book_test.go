package unwind

import (
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
)

// A value that the kernel writes must be one that the library of maps can read: its fields are exported.
func TestBookedIsReadBack(t *testing.T) {
	table, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, MaxEntries: 1, KeySize: 4,
		ValueSize: uint32(unsafe.Sizeof(booked{}))})
	if err != nil {
		t.Skip("no BPF here: ", err)
	}
	defer table.Close()
	put := booked{Count: 2, Ranges: [mostRanges]codeRange{{1, 2}, {3, 4}}}
	var got booked
	if err := table.Update(uint32(7), &put, ebpf.UpdateAny); err != nil {
		t.Fatal(err)
	}
	if err := table.Lookup(uint32(7), &got); err != nil || got != put {
		t.Errorf("%v, %v", got, err)
	}
}
