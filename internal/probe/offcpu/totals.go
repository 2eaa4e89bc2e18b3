package offcpu

import (
	"fmt"
	"slices"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// notTaken is NOT_TAKEN of stacks.h: the stay, or the waking, was not looked at.
const notTaken = -2

// unseenStays is what the manifest calls the stays that were not looked at.
const unseenStays = "offcpu: stays whose kernel stacks are taken to be those of others at the same place"

// lookedAt is a kernel stack of a place, and the time of the stays that were looked at for others
// too.
type lookedAt struct {
	stack int32
	ns    float64
}

// total is a place with its stack, and its stays.
type total struct {
	key   offcpuTotalKey
	stays offcpuTotal
}

// takeTotals turns the exact totals into samples: those of places that were not looked at each time
// are split by what was seen there.
func (s *Session) takeTotals(c *collection) error {
	var totals []total
	unseen := recording.Estimate{What: unseenStays}
	err := bpf.Drain(s.collection.Maps["totals"], func(key offcpuTotalKey, stays *offcpuTotal) {
		totals = append(totals, total{key, *stays})
		unseen.Of += int64(stays.Count)
		if key.Stack == notTaken {
			unseen.Count += int64(stays.Count)
		} else if stays.LookedNs > 0 {
			c.look(key, float64(stays.LookedNs))
		}
	})
	if err != nil {
		return fmt.Errorf("read totals: %w", err)
	}
	if unseen.Count > 0 {
		c.window.Recording.Manifest.Estimated = append(c.window.Recording.Manifest.Estimated, unseen)
	}
	samples := &c.window.Recording.Samples
	*samples = slices.Grow(*samples, len(totals)) // one each at least
	for _, total := range totals {
		c.splitTotal(total.key, float64(total.stays.Count), float64(total.stays.Ns))
	}
	return nil
}

// placeNotKept is the stack of the time that a process was off the CPU at places that did not fit.
var placeNotKept = recording.BrokenStack("its place did not fit")

// takeRests adds what processes were off the CPU at places that did not fit: the time is whole, the
// stacks are lost.
func (s *Session) takeRests(c *collection) error {
	err := bpf.Drain(s.collection.Maps["rests"], func(tgid uint32, rest *offcpuRest) {
		c.addSample(offcpuTotalKey{Tgid: tgid, Tid: tgid}, []*recording.Frame{&placeNotKept}, nil,
			float64(rest.Count), float64(rest.Ns))
	})
	if err != nil {
		return fmt.Errorf("read what did not fit: %w", err)
	}
	var unkept uint64
	variable := s.collection.Variables["unkept"]
	if err := variable.Get(&unkept); err != nil {
		return fmt.Errorf("read what fits nowhere: %w", err)
	}
	c.window.Lose("offcpu: stays of processes that did not fit", int64(unkept))
	if err := variable.Set(uint64(0)); err != nil {
		return fmt.Errorf("clear what fits nowhere: %w", err)
	}
	return nil
}

// look remembers a kernel stack of a place.
func (c *collection) look(key offcpuTotalKey, ns float64) {
	stack := key.Stack
	key.Stack = notTaken
	c.looked[key] = append(c.looked[key], lookedAt{stack, ns})
}

// splitTotal shares out the stays of a place that were not looked at among the kernel stacks that
// were seen there.
func (c *collection) splitTotal(key offcpuTotalKey, count, ns float64) {
	if key.Stack != notTaken {
		c.addTotal(key, count, ns)
		return
	}
	seen := c.looked[key]
	if len(seen) == 0 { // they did not fit
		c.addTotal(key, count, ns)
		return
	}
	var sum float64
	for _, stack := range seen {
		sum += stack.ns
	}
	for _, stack := range seen {
		key.Stack = stack.stack
		c.addTotal(key, count*stack.ns/sum, ns*stack.ns/sum)
	}
}

// addTotal splits stays by the shares of the user stacks that were unwound for their signature.
func (c *collection) addTotal(key offcpuTotalKey, count, ns float64) {
	kernel := c.kernelFrames(key.Stack)
	users := c.users[signed{int32(key.Tid), key.Signature}]
	var sum float64
	for _, user := range users {
		sum += user.weight
	}
	if sum == 0 {
		c.addSample(key, nil, kernel, count, ns)
		return
	}
	for _, user := range users {
		share := user.weight / sum
		c.addSample(key, user.user, kernel, count*share, ns*share)
	}
}

func (c *collection) addSample(key offcpuTotalKey, user, kernel []*recording.Frame, count, ns float64) {
	c.window.Recording.Samples = append(c.window.Recording.Samples, recording.Sample{
		Signal: recording.SignalOffCPU, Pid: int32(key.Tgid), Tid: int32(key.Tid), CPU: -1,
		Stack: c.window.Stack(user, kernel), Count: int64(count + 0.5), ValueNs: int64(ns + 0.5),
		Target: true, Comm: c.window.Comm[int32(key.Tgid)],
	})
}
