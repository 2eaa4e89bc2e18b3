package stat

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// The calibration simulates as many trials as fit into the time of about insertBudget insertions,
// and takes off the error rate what chance could hide in that simulation.
const (
	insertBudget    = 6_000_000
	leastPaths      = 20_000
	mostPaths       = 200_000
	marginSigmas    = 2
	calibrationSeed = 1945 // fixed: the same plan each time
)

// pathTails are the results of one simulated trial under no change: for each look the lower and the
// upper tail of the signed-rank statistic, as sums of ranks (the smaller, the more extreme).
type pathTails struct {
	lower, upper []int
}

// calibrate finds the constant nominal level at which the looks together reject with probability
// alpha under no change, and returns it as critical rank sums: two-sided and one-sided. The
// clearest result at the first look always rejects: the schedule made sure that it takes at most a
// third of alpha.
func calibrate(looks []int, alpha float64) (twoSided, oneSided []int) {
	cumulative := lookCDFs(looks)
	if len(looks) == 1 {
		// One look needs no simulation: the distribution is exact.
		return []int{critical(cumulative[0], alpha/2)}, []int{critical(cumulative[0], alpha)}
	}
	both, one := levels{most: alpha}, levels{most: alpha}
	simulate(looks, func(path pathTails) {
		lower, upper := 1.0, 1.0
		for i := range looks {
			lower = min(lower, tailProbability(cumulative[i], path.lower[i], i == 0))
			upper = min(upper, tailProbability(cumulative[i], path.upper[i], i == 0))
		}
		both.add(2 * min(lower, upper))
		// By symmetry each path is two for the one-sided error.
		one.add(lower)
		one.add(upper)
	})
	return criticals(cumulative, both.largest(alpha)/2), criticals(cumulative, one.largest(alpha))
}

// criticals turns one tail level into the critical rank sum of each look.
func criticals(cumulative [][]float64, tail float64) []int {
	limits := make([]int, len(cumulative))
	for i := range limits {
		limits[i] = critical(cumulative[i], tail)
	}
	limits[0] = max(limits[0], 0)
	return limits
}

// tailProbability is P(T ≤ sum), or 0 for the clearest result at the first look, which rejects at
// any level.
func tailProbability(cumulative []float64, sum int, first bool) float64 {
	if first && sum == 0 {
		return 0
	}
	return cumulative[sum]
}

// calibrateLast keeps the critical sums of all looks but the last and gives the last one what is
// left of alpha.
func calibrateLast(looks, keptTwo, keptOne []int, alpha float64) (twoSided, oneSided []int) {
	if len(looks) == 1 {
		return calibrate(looks, alpha)
	}
	last := len(looks) - 1
	cumulative := signedRankCDF(looks[last])
	both, one := levels{most: alpha}, levels{most: alpha}
	simulate(looks, func(path pathTails) {
		lower, upper := cumulative[path.lower[last]], cumulative[path.upper[last]]
		two := 2 * min(lower, upper)
		for i := range last {
			if min(path.lower[i], path.upper[i]) <= keptTwo[i] {
				two = 0
			}
			if path.lower[i] <= keptOne[i] {
				lower = 0
			}
			if path.upper[i] <= keptOne[i] {
				upper = 0
			}
		}
		both.add(two)
		one.add(lower)
		one.add(upper)
	})
	twoSided = append(slices.Clone(keptTwo), critical(cumulative, both.largest(alpha)/2))
	oneSided = append(slices.Clone(keptOne), critical(cumulative, one.largest(alpha)))
	return twoSided, oneSided
}

// levels are, for each simulated trial, the smallest nominal level at which it would have rejected.
// Those above most are only counted: a level for several looks is never above the error rate of
// all.
type levels struct {
	most  float64
	paths int
	low   []float64
}

func (l *levels) add(level float64) {
	l.paths++
	if level <= l.most {
		l.low = append(l.low, level)
	}
}

// largest returns the largest level at which at most a share alpha of the trials reject, less the
// simulation's own error; 0 when the trials that reject at any level leave nothing.
func (l *levels) largest(alpha float64) float64 {
	slices.Sort(l.low)
	margin := marginSigmas * math.Sqrt(alpha*(1-alpha)/float64(l.paths))
	allowed := int((alpha - margin) * float64(l.paths))
	if allowed <= 0 || len(l.low) == 0 {
		return 0
	}
	if allowed >= len(l.low) {
		return l.low[len(l.low)-1]
	}
	// The level must leave out the whole group of equal values that would exceed the allowance.
	first, _ := slices.BinarySearch(l.low, l.low[allowed])
	if first == 0 {
		return 0
	}
	return l.low[first-1]
}

// lookCDFs returns the null distribution of each look.
func lookCDFs(looks []int) [][]float64 {
	cumulative := make([][]float64, len(looks))
	for i, look := range looks {
		cumulative[i] = signedRankCDF(look)
	}
	return cumulative
}

// simulate draws trials under no change and calls visit with the tails of each look; visit must not
// keep them. Each new difference has a fair sign, and its size falls with equal chance into any of
// the gaps between those before it. So the state is one row of signs in order of size, kept as
// bits, into which the new one is inserted.
func simulate(looks []int, visit func(pathTails)) {
	source := rand.NewPCG(calibrationSeed, uint64(len(looks)))
	last := looks[len(looks)-1]
	paths := min(max(insertBudget/last, leastPaths), mostPaths)
	path := pathTails{lower: make([]int, len(looks)), upper: make([]int, len(looks))}
	signs := make([]uint64, (last+63)/64)
	for range paths {
		clear(signs)
		pairs := 0
		for i, look := range looks {
			for ; pairs < look; pairs++ {
				random := source.Uint64()
				position := (random >> 32) * uint64(pairs+1) >> 32
				insertBit(signs[:pairs/64+1], int(position), random&1)
			}
			path.lower[i] = rankSum(signs)
			path.upper[i] = look*(look+1)/2 - path.lower[i]
		}
		visit(path)
	}
}

// insertBit moves the bits from position on up by one and puts bit there. Of the last word the top
// bit must be free.
func insertBit(words []uint64, position int, bit uint64) {
	for word := len(words) - 1; word > position/64; word-- {
		words[word] = words[word]<<1 | words[word-1]>>63
	}
	word, below := position/64, uint64(1)<<(position%64)-1
	words[word] = words[word]&below | words[word]&^below<<1 | bit<<(position%64)
}

// rankSum adds up the ranks, position + 1, of the bits that are set, by the binary digits of their
// positions.
func rankSum(words []uint64) int {
	sum := 0
	for i, word := range words {
		sum += bits.OnesCount64(word)*(64*i+1) +
			bits.OnesCount64(word&0xaaaaaaaaaaaaaaaa) +
			bits.OnesCount64(word&0xcccccccccccccccc)<<1 +
			bits.OnesCount64(word&0xf0f0f0f0f0f0f0f0)<<2 +
			bits.OnesCount64(word&0xff00ff00ff00ff00)<<3 +
			bits.OnesCount64(word&0xffff0000ffff0000)<<4 +
			bits.OnesCount64(word&0xffffffff00000000)<<5
	}
	return sum
}
