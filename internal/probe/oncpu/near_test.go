package oncpu

import (
	"math/rand/v2"
	"testing"
)

// together gives the samples of two threads that are sampled at each tick, the second one 40 µs
// later.
func together(ticks int, pick func(draw *rand.Rand, tick int) (first, second uint64)) (moments []moment) {
	draw := rand.New(rand.NewPCG(3, 1))
	for tick := range ticks {
		first, second := pick(draw, tick)
		for i, address := range [2]uint64{first, second} {
			moments = append(moments, moment{time: int64(tick)*10_000_000 + int64(i)*40_000, word: word{tid: int32(i + 1),
				pid: 9, in: lineOf{pid: 9, line: address &^ (lineBytes - 1)}, address: address}})
		}
	}
	return moments
}

const blockBytes, blocks = 8192, 8

// Threads that have one of several blocks each are never in the same one; those that use all of the
// blocks meet as often as chance has it, and so do those that use one word.
func TestNear(t *testing.T) {
	for _, test := range []struct {
		name         string
		pick         func(draw *rand.Rand, tick int) (first, second uint64)
		least, most  float64 // seen, by what there would be by chance
		fewestChance float64
	}{
		{"blocks that go round", func(draw *rand.Rand, _ int) (uint64, uint64) {
			first := draw.Uint64N(blocks)
			second := (first + 1 + draw.Uint64N(blocks-1)) % blocks
			return first*blockBytes + 8*draw.Uint64N(blockBytes/8), second*blockBytes + 8*draw.Uint64N(blockBytes/8)
		}, 0, 0.2, fewestByChance},
		{"all blocks for both", func(draw *rand.Rand, _ int) (uint64, uint64) {
			return 8 * draw.Uint64N(blocks*blockBytes/8), 8 * draw.Uint64N(blocks*blockBytes/8)
		}, 0.5, 2, fewestByChance},
		{"one line", func(*rand.Rand, int) (uint64, uint64) { return 4096, 4104 }, 1, 1, 400},
		{"blocks of their own", func(draw *rand.Rand, _ int) (uint64, uint64) {
			return draw.Uint64N(1 << 22), 1<<23 + draw.Uint64N(1<<22)
		}, 0, 0, 0},
	} {
		all := nearness{}
		for _, one := range nearOf(together(400, test.pick), map[int32]string{0: "work"}) {
			all.seen, all.byChance = all.seen+one.seen, all.byChance+one.byChance
		}
		if seen := float64(all.seen); all.byChance < test.fewestChance || seen < test.least*all.byChance ||
			seen > test.most*all.byChance+1e-6 {
			t.Errorf("%s: %+v", test.name, all)
		}
	}
}

// Samples at different times, and of one thread, are no pair.
func TestBeside(t *testing.T) {
	at := func(time int64, tid int32) moment { return moment{time: time, word: word{tid: tid}} }
	moments := []moment{at(0, 1), at(200, 1), at(2*besideNs, 2), at(2*besideNs+30, 1), at(2*besideNs+50, 3)}
	for i, want := range []int32{0, 0, 1, 3, 1} {
		got := int32(0)
		if other := beside(moments, i); other != nil {
			got = other.tid
		}
		if got != want {
			t.Errorf("beside %d: thread %d, want %d", i, got, want)
		}
	}
}
