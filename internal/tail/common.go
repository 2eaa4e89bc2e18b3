package tail

import (
	"culprit/internal/code"
	"culprit/recording"
)

// commonPlace is the function that most of a claim's time is below: where it is spread over so many
// that none of them has most of it, as below a library's entry. It is the innermost of those that
// have a name and that more than half of the time goes through, the program's own first; "" where
// there is none.
func (c *claim) commonPlace() string {
	var stacks [][]recording.Frame
	var lengths []int64
	all := int64(0)
	for _, part := range c.parts {
		if frames := part.reader.stack(part.Stack); len(frames) > 0 {
			stacks, lengths, all = append(stacks, frames), append(lengths, part.LengthNs), all+part.LengthNs
		}
	}
	shared := trunk(stacks, lengths, all/2)
	if at := code.Innermost(shared); at >= 0 {
		return nameOf(&shared[at])
	}
	for i := len(shared) - 1; i >= 0; i-- {
		if code.Placeable(shared[i]) && !code.ByAddress(shared[i]) {
			return nameOf(&shared[i])
		}
	}
	return ""
}

// trunk is the longest stack of frames, from the root on, that begins stacks which together took
// longer than a time.
func trunk(stacks [][]recording.Frame, lengths []int64, longerThan int64) []recording.Frame {
	var shared []recording.Frame
	for depth := 0; ; depth++ {
		below := map[recording.Frame]int64{}
		for i, frames := range stacks {
			if len(frames) > depth {
				below[frames[depth]] += lengths[i]
			}
		}
		next, found := recording.Frame{}, false
		for frame, length := range below { // two cannot have more than half
			if length > longerThan {
				next, found = frame, true
			}
		}
		if !found {
			return shared
		}
		shared = append(shared, next)
		kept, at := stacks[:0:0], lengths[:0:0]
		for i, frames := range stacks {
			if len(frames) > depth && frames[depth] == next {
				kept, at = append(kept, frames), append(at, lengths[i])
			}
		}
		stacks, lengths = kept, at
	}
}
