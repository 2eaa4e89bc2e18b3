package bpf

import "testing"

func TestBucket(t *testing.T) {
	for ns, want := range map[uint64]int{0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 1023: 9, 1024: 10, 1 << 60: 39} {
		if got := Bucket(ns, 40); got != want {
			t.Errorf("%d ns is in bucket %d, want %d", ns, got, want)
		}
	}
}
