package requests

import (
	"os"
	"slices"
	"testing"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/bpf"
)

// Nothing tells when a unix socket is closed: that which was not used for long is forgotten, unless
// it has a request in progress or carries streams. A TCP connection tells its end.
func TestForgetClosed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making maps needs root")
	}
	spec, err := loadRequests()
	if err != nil {
		t.Fatal(err)
	}
	collection := &ebpf.Collection{Maps: map[string]*ebpf.Map{}}
	files := byCalls.walkingFiles()
	for _, name := range []string{files.turns, files.connections} {
		if collection.Maps[name], err = ebpf.NewMap(spec.Maps[name]); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { collection.Maps[name].Close() })
	}
	long := uint64(bpf.Now()) - uint64(2*forgetAfter)
	for address, of := range map[uint64]struct {
		number uint64
		turn   requestsTurn
	}{
		1: {number: 7, turn: requestsTurn{LastRecv: long}},
		2: {number: 8, turn: requestsTurn{LastRecv: uint64(bpf.Now())}},
		3: {number: 9, turn: requestsTurn{LastRecv: long, Begin: long}},
		4: {number: 10, turn: requestsTurn{LastRecv: long, Protocol: http2}},
		5: {turn: requestsTurn{LastRecv: long}},
	} {
		key := requestsSocketKey{Address: address, Number: of.number}
		if err := collection.Maps[files.turns].Put(key, of.turn); err != nil {
			t.Fatal(err)
		}
	}
	if err := byCalls.forgetClosed(collection); err != nil { // its walk over the map forgets them
		t.Fatal(err)
	}
	if known := addresses(t, collection.Maps[files.turns]); !slices.Equal(known, []uint64{1, 2, 3, 4, 5}) {
		t.Errorf("by a walk over the map: %v", known)
	}
	if err := files.forgetClosed(collection); err != nil {
		t.Fatal(err)
	}
	if known := addresses(t, collection.Maps[files.turns]); !slices.Equal(known, []uint64{2, 3, 4, 5}) {
		t.Errorf("by open files: %v", known)
	}
}

func addresses(t *testing.T, known *ebpf.Map) (all []uint64) {
	t.Helper()
	var key requestsSocketKey
	var turn requestsTurn
	entries := known.Iterate()
	for entries.Next(&key, &turn) {
		all = append(all, key.Address)
	}
	if err := entries.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
