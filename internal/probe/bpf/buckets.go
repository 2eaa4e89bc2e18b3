package bpf

import "math/bits"

// Bucket is where a time belongs among buckets by powers of two, as bucket_of of buckets.h has it.
func Bucket(ns uint64, buckets int) int {
	return min(max(bits.Len64(ns)-1, 0), buckets-1)
}
