package requests

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/goroutine"
	"culprit/internal/probe/unwind"
)

// A goroutine that waits has no thread, and one that runs changes it. So what the goroutines of
// requests in progress are at is looked up in their process's memory, of those that were read a
// millisecond ago and more. A timer of the kernel's says that there are such (waiting.h).

const (
	// lookOften is how often while there are few looks, lookSeldom when they have taken a part of a
	// CPU for long, 1 in lookPart: a look is taken to cost lookCosts at least, most of it that a
	// process wakes (0.27 ms were measured).
	lookOften, lookSeldom = 5 * time.Millisecond, 25 * time.Millisecond
	lookCosts             = 250 * time.Microsecond
	lookPart              = 100
	// lookAhead is how much looks may cost before they become seldom.
	lookAhead = 100 * time.Millisecond
	// mostLooked bounds the requests of one look, the oldest first.
	mostLooked = 64
	// mostLooks and mostStacks bound what a window keeps: 24 bytes a look, 500 a stack.
	mostLooks  = 1 << 18
	mostStacks = 1 << 12
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
	pauseMs  int16 // since the look before it, as it was meant
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
	pause    time.Duration // between two looks
	left     time.Duration // that looks may cost
	stacks   [][]uint64
	byHash   map[uint64]int32
	lost     int64 // looks that did not fit, or whose stack did not
}

func (s *Session) newGoroutines() *goroutines {
	return &goroutines{session: s, done: make(chan struct{}), programs: map[uint32]*goroutine.Program{},
		looks: map[inProgress][]looked{}, pause: lookOften, left: lookAhead, byHash: map[uint64]int32{}}
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
	collection := g.session.collection
	waits, err := collection.Maps["waits"].Memory()
	if err != nil {
		return fmt.Errorf("look at goroutines: %w", err)
	}
	wakes, err := ringbuf.NewReader(collection.Maps["old"])
	if err != nil {
		return fmt.Errorf("look at goroutines: %w", err)
	}
	err = errors.Join(collection.Variables["notes_goroutines"].Set(uint32(1)), g.setPause())
	if err == nil {
		_, err = collection.Programs["begin_looks"].Run(&ebpf.RunOptions{})
	}
	if err != nil {
		_ = wakes.Close() // nothing was written to it
		return fmt.Errorf("look at goroutines: %w", err)
	}
	g.looking = true
	g.ended.Go(func() { g.run(waits, wakes) })
	g.ended.Go(func() {
		<-g.done
		_ = wakes.Close() // ends run
	})
	return nil
}

func (g *goroutines) setPause() error {
	return g.session.collection.Variables["look_every_ns"].Set(uint64(g.pause))
}

// stop ends the looks, and the timer.
func (g *goroutines) stop() {
	close(g.done)
	g.ended.Wait()
	if g.looking {
		g.failed = errors.Join(g.failed, g.session.collection.Variables["notes_goroutines"].Set(uint32(0)))
	}
}

func (g *goroutines) run(waits *ebpf.Memory, wakes *ringbuf.Reader) {
	var record ringbuf.Record
	slots := make([]byte, g.session.collection.Maps["waits"].MaxEntries()*uint32(unsafe.Sizeof(requestsWaiting{})))
	for last := bpf.Now(); ; {
		err := wakes.ReadInto(&record)
		for err == nil && wakes.AvailableBytes() > 0 { // it was late: one look is as good as many
			err = wakes.ReadInto(&record)
		}
		if err != nil { // it is closed
			return
		}
		if _, err := waits.ReadAt(slots, 0); err != nil {
			g.failed = err
			return
		}
		before := unwind.ThreadCPU()
		g.look(unanswered(slots))
		now := bpf.Now()
		g.left -= max(lookCosts, unwind.ThreadCPU()-before)
		g.left = min(lookAhead, g.left+time.Duration(now-last)/lookPart)
		last = now
		if pause := g.pauseFor(); pause != g.pause {
			g.pause = pause
			g.failed = errors.Join(g.failed, g.setPause())
		}
	}
}

// pauseFor is how long the next pause is, by what looks have cost.
func (g *goroutines) pauseFor() time.Duration {
	switch {
	case g.left < 0:
		return lookSeldom
	case g.left > lookAhead/2:
		return lookOften
	}
	return g.pause
}

// unanswered are the requests in the slots that were read some time ago.
func unanswered(slots []byte) (requests []requestsWaiting) {
	now := uint64(bpf.Now())
	for size := int(unsafe.Sizeof(requestsWaiting{})); len(slots) >= size; slots = slots[size:] {
		one, _ := bpf.Decode[requestsWaiting](slots)
		if one.Begin != 0 && one.Since < now && now-one.Since >= workLeast && now-one.Since < uint64(forgotten) {
			requests = append(requests, one)
		}
	}
	return requests
}

// forgotten is MOST_NS of waiting.h.
const forgotten = 10 * time.Second

// look notes what the goroutines of requests are at.
func (g *goroutines) look(requests []requestsWaiting) {
	if len(requests) > mostLooked {
		slices.SortFunc(requests, func(a, b requestsWaiting) int { return cmp.Compare(a.Begin, b.Begin) })
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
			stack: g.keep(now.Stack), pauseMs: int16(g.pause / time.Millisecond)})
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
		g.lost++
		return noStack
	}
	g.stacks = append(g.stacks, stack)
	number := int32(len(g.stacks) - 1)
	g.byHash[hash] = number
	return number
}
