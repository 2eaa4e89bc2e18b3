package bpf

import (
	"fmt"
	"math"

	"github.com/cilium/ebpf"
)

// Begins lets programs that include edge.h count what happens from now on.
func Begins(collection *ebpf.Collection) error { return setBegin(collection, uint64(Now())) }

// Ends lets them count nothing any more.
func Ends(collection *ebpf.Collection) error { return setBegin(collection, math.MaxUint64) }

func setBegin(collection *ebpf.Collection, time uint64) error {
	if err := collection.Variables["begins"].Set(time); err != nil {
		return fmt.Errorf("set the edge of a window: %w", err)
	}
	return nil
}
