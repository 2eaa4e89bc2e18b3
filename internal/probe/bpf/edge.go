package bpf

import (
	"fmt"
	"math"

	"github.com/cilium/ebpf"
)

// As in edge.h.
const (
	notBegun = math.MaxUint64
	over     = math.MaxUint64 - 1
)

// NotBegun tells programs that include edge.h that their next window is to come.
func NotBegun(collection *ebpf.Collection) error { return setBegin(collection, notBegun) }

// Begins lets programs that include edge.h count what happens from now on.
func Begins(collection *ebpf.Collection) error { return setBegin(collection, uint64(Now())) }

// Ends lets them count nothing any more.
func Ends(collection *ebpf.Collection) error { return setBegin(collection, over) }

func setBegin(collection *ebpf.Collection, time uint64) error {
	if err := collection.Variables["begins"].Set(time); err != nil {
		return fmt.Errorf("set the edge of a window: %w", err)
	}
	return nil
}
