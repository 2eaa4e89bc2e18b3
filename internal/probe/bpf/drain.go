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
	return batches(m, m.BatchLookupAndDelete, each)
}

// Each calls each for the entries of a map, which stay there.
func Each[K comparable, V any](m *ebpf.Map, each func(K, *V)) error {
	return batches(m, m.BatchLookup, each)
}

type lookup func(cursor *ebpf.MapBatchCursor, keys, values any, options *ebpf.BatchOptions) (int, error)

func batches[K comparable, V any](m *ebpf.Map, next lookup, each func(K, *V)) error {
	keys, values := make([]K, drainBatch), make([]V, drainBatch)
	var cursor ebpf.MapBatchCursor
	for {
		n, err := next(&cursor, keys, values, nil)
		for i := range n {
			each(keys[i], &values[i])
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) { // that was the last batch
			return nil
		}
		if err != nil {
			return fmt.Errorf("read map %v: %w", m, err)
		}
	}
}
