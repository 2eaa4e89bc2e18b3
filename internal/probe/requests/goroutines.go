package requests

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/goroutine"
	"culprit/internal/probe/unwind"
)

// A goroutine that waits has no thread, and one that runs changes it. So what the goroutines of
// requests in progress are at is looked up in their process's memory, a few hundred times a second:
// of those that were read a millisecond ago and more, which most are not.

const (
	// lookEvery is how often, at most; and so that all looks take a part of a CPU, 1 in lookPart.
	lookEvery = 5 * time.Millisecond
	lookPart  = 100
	// mostLooked bounds the requests of one look, the oldest first.
	mostLooked = 64
	// mostLooks and mostStacks bound what a window keeps: 24 bytes a look, 500 a stack.
	mostLooks  = 1 << 18
	mostStacks = 1 << 12
	// fewLooks are those by which the cost of a look is told.
	fewLooks = 8
)

// inProgress is a request: by its begin and who read it, see lastOfEach.
type inProgress struct {
	begin  uint64
	reader uint32
}

// looked is what the goroutine of a request was at.
type looked struct {
	atNs     int64 // CLOCK_MONOTONIC
	tid      int32 // of the thread that it is on; 0: none
	stack    int32 // where it waits, of goroutines.stacks; noStack where it does not
	runnable bool
}

const noStack = -1

// goroutines looks at those of the requests of a window.
type goroutines struct {
	session *Session
	looking bool
	done    chan struct{}
	ended   sync.WaitGroup
	failed  error

	programs map[uint32]*goroutine.Program // by process; nil: none in Go
	looks    map[inProgress][]looked
	count    int
	pause    time.Duration // between two looks, as it was at last
	stacks   [][]uint64
	byHash   map[uint64]int32
	lost     int64
}

func (s *Session) newGoroutines() *goroutines {
	return &goroutines{session: s, done: make(chan struct{}), programs: map[uint32]*goroutine.Program{},
		looks: map[inProgress][]looked{}, pause: lookEvery, byHash: map[uint64]int32{}}
}

// find begins to look when a service of the target's is a program in Go. A recorder that stays does
// not: it tells no single requests. Nor does one that names no stacks.
func (g *goroutines) find() error {
	if shared := g.session.shared; g.looking || shared.Options.Patient || shared.Unwinder == nil {
		return nil
	}
	var used uint32
	if err := g.session.collection.Variables["services_used"].Get(&used); err != nil {
		return fmt.Errorf("read services: %w", err)
	}
	services := g.session.collection.Maps["services"]
	var service requestsService
	for at := uint32(firstOfKinds); at < min(used, services.MaxEntries()); at++ {
		if err := services.Lookup(at, &service); err != nil {
			return fmt.Errorf("read services: %w", err)
		}
		if service.Key.Role != roleClient && g.programOf(service.Tgid) != nil {
			return g.begin()
		}
	}
	return nil
}

// programOf opens a process once; nil where it runs no program in Go.
func (g *goroutines) programOf(pid uint32) *goroutine.Program {
	program, known := g.programs[pid]
	if !known && pid != 0 {
		program, _ = goroutine.Open(int32(pid)) // nil
		g.programs[pid] = program
	}
	return program
}

// begin has the programs note goroutines, and looks at them until stop.
func (g *goroutines) begin() error {
	if err := g.session.collection.Variables["notes_goroutines"].Set(uint32(1)); err != nil {
		return fmt.Errorf("begin to look at goroutines: %w", err)
	}
	source := g.session.source
	waiting, err := bpf.NewWalker[requestsUnanswered](g.session.collection, source.waiting,
		g.session.collection.Maps[source.turns])
	if err != nil {
		return err
	}
	g.looking = true
	g.ended.Go(func() {
		defer waiting.Close()
		g.run(waiting)
	})
	return nil
}

// stop ends the looks.
func (g *goroutines) stop() {
	close(g.done)
	g.ended.Wait()
}

func (g *goroutines) run(waiting *bpf.Walker[requestsUnanswered]) {
	var took []time.Duration // of the last looks: the least is what one takes that nothing comes between
	for {
		select {
		case <-g.done:
			return
		case <-time.After(g.pause):
		}
		thread, before := unix.Gettid(), unwind.ThreadCPU()
		requests, err := waiting.Walk()
		if err != nil {
			g.failed = err
			return
		}
		g.look(requests)
		if thread == unix.Gettid() { // else the time is that of two
			took = append(took[max(0, len(took)-fewLooks+1):], unwind.ThreadCPU()-before)
			g.pause = max(lookEvery, slices.Min(took)*lookPart)
		}
	}
}

// look notes what the goroutines of requests are at.
func (g *goroutines) look(requests []requestsUnanswered) {
	if len(requests) > mostLooked {
		slices.SortFunc(requests, func(a, b requestsUnanswered) int { return cmp.Compare(a.Begin, b.Begin) })
		requests = requests[:mostLooked]
	}
	for i := range requests {
		request := &requests[i]
		program := g.programOf(request.Tgid)
		if program == nil {
			continue
		}
		now, ok := program.At(request.Goroutine)
		if !ok {
			continue
		}
		if g.count >= mostLooks {
			g.lost++
			continue
		}
		g.count++
		key := inProgress{request.Begin, request.Reader}
		g.looks[key] = append(g.looks[key], looked{atNs: bpf.Now(), tid: now.Tid, runnable: now.Runnable,
			stack: g.keep(now.Stack)})
	}
}

var stackSeed = maphash.MakeSeed()

// keep gives a stack its number; noStack where there is none, or no room.
func (g *goroutines) keep(stack []uint64) int32 {
	if len(stack) == 0 {
		return noStack
	}
	hash := maphash.Bytes(stackSeed, unsafe.Slice((*byte)(unsafe.Pointer(&stack[0])), 8*len(stack)))
	if number, known := g.byHash[hash]; known {
		return number
	}
	if len(g.stacks) >= mostStacks {
		return noStack
	}
	g.stacks = append(g.stacks, stack)
	number := int32(len(g.stacks) - 1)
	g.byHash[hash] = number
	return number
}
