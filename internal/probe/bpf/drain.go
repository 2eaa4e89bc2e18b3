package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
)

// drainBatch is how many entries of a map are taken with one system call.
const drainBatch = 256

// Drain takes everything out of a hash map that nobody writes to any more.
func Drain[K comparable, V any](m *ebpf.Map, each func(K, *V)) error {
	keys, values := make([]K, drainBatch), make([]V, drainBatch)
	var cursor ebpf.MapBatchCursor
	for {
		n, err := m.BatchLookupAndDelete(&cursor, keys, values, nil)
		for i := range n {
			each(keys[i], &values[i])
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) { // that was the last batch
			return nil
		}
		if err != nil {
			return fmt.Errorf("empty map %v: %w", m, err)
		}
	}
}
