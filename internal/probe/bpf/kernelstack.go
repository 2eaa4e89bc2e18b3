package bpf

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
)

// kernelStackDepth is how many addresses of a kernel stack are kept, as in kernelstack.h.
const kernelStackDepth = 32

// TakeKernelStacks takes the kernel stacks out of a probe's map of them (kernelstack.h): addresses
// by id, leaf first.
func TakeKernelStacks(collection *ebpf.Collection) (map[int32][]uint64, error) {
	stacks := map[int32][]uint64{}
	err := Drain(collection.Maps["kernel_stacks"], func(id int32, buffer *[kernelStackDepth]uint64) {
		stacks[id] = slices.Clone(UntilZero(buffer[:]))
	})
	if err != nil {
		return nil, fmt.Errorf("read kernel stacks: %w", err)
	}
	return stacks, nil
}

// UntilZero are the addresses of a stack before the first that is none.
func UntilZero(addresses []uint64) []uint64 {
	if depth := slices.Index(addresses, 0); depth >= 0 {
		return addresses[:depth]
	}
	return addresses
}
