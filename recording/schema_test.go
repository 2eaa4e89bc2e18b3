package recording

import "testing"

// A recording that culprit wrote with schema 1 is read as it was.
func TestReadsSchema1(t *testing.T) {
	rec, err := Open("testdata/schema1.culprit")
	if err != nil {
		t.Fatal(err)
	}
	if rec.Manifest.Schema != 1 || len(rec.Syscalls) == 0 || len(rec.Waits) == 0 || len(rec.Stacks) == 0 {
		t.Errorf("schema %d, %d system calls, %d waits, %d stacks", rec.Manifest.Schema, len(rec.Syscalls),
			len(rec.Waits), len(rec.Stacks))
	}
	for _, call := range rec.Syscalls {
		if call.Tid != 0 || call.Count <= 0 || call.Name == "" {
			t.Errorf("%+v", call)
		}
	}
	if len(rec.Slow)+len(rec.Metrics)+len(rec.Errors) != 0 {
		t.Error("tables of a later schema are not empty")
	}
}
