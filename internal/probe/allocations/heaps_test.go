package allocations

import (
	"os"
	"testing"
)

// A file that may be mapped is known by its number before it is; what is not there has none.
func TestNumberOf(t *testing.T) {
	if numberOf("/nowhere") != "" {
		t.Error("a file that is not there has a number")
	}
	of := newHeaps(nil)
	defer of.close()
	pid := int32(os.Getpid())
	of.lookAt(pid, of.process(pid))
	if number := numberOf(os.Args[0]); number == "" || of.files[number] == nil {
		t.Errorf("this program has the number %q, and has mapped %v", number, of.files)
	}
}

// Only so many processes are looked at.
func TestMostProcesses(t *testing.T) {
	of := newHeaps(nil)
	for pid := range int32(2 * mostProcesses) {
		of.process(pid)
	}
	if len(of.processes) != mostProcesses || of.process(0) == nil || of.process(2*mostProcesses-1) != nil {
		t.Errorf("%d processes", len(of.processes))
	}
}
