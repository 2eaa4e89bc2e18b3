// Package slow joins slow system calls with the waits of their threads, and
// numbers the stalls: slow calls that overlap in time and wait for the same
// thing are one stall, however many threads they hold up.
//
//	rec.Slow = slow.Join(calls, rec.Waits)
//
// It is pure: it refuses nothing, and leaves out what no wait explains.
package slow

import (
	"cmp"
	"slices"

	"culprit/recording"
)

// slackNs is how much later than its first sleep a call may be told to have begun: one that was not
// timed at its entry is timed from that sleep.
const slackNs = 20_000

// Join completes calls, in order of time, with the longest wait of each, and numbers the stalls.
func Join(calls []recording.Slow, waits []recording.Wait) []recording.Slow {
	byThread := map[int32][]*recording.Wait{}
	for i := range waits {
		byThread[waits[i].Tid] = append(byThread[waits[i].Tid], &waits[i])
	}
	for _, list := range byThread {
		slices.SortFunc(list, func(a, b *recording.Wait) int { return cmp.Compare(a.TimeNs, b.TimeNs) })
	}
	for i := range calls {
		complete(&calls[i], byThread[calls[i].Tid])
	}
	number(calls)
	return calls
}

// complete fills in where the call slept longest and who woke it.
func complete(call *recording.Slow, waits []*recording.Wait) {
	end := call.TimeNs + call.DurationNs
	first, _ := slices.BinarySearchFunc(waits, call.TimeNs-slackNs,
		func(wait *recording.Wait, time int64) int { return cmp.Compare(wait.TimeNs, time) })
	var longest *recording.Wait
	var blocked, queued int64
	count := int32(0)
	for _, wait := range waits[first:] {
		if wait.TimeNs >= end {
			break
		}
		blocked += wait.BlockedNs
		queued += wait.RunqueueNs
		if wait.BlockedNs == 0 {
			continue
		}
		count++
		if longest == nil || wait.BlockedNs > longest.BlockedNs {
			longest = wait
		}
	}
	// The kernel's sums hold the short waits too, but not those of another recorder's making.
	call.BlockedNs = min(max(call.BlockedNs, blocked), call.DurationNs)
	call.RunqueueNs = min(max(call.RunqueueNs, queued), call.DurationNs-call.BlockedNs)
	call.Waits = max(call.Waits, count)
	// A call that is timed from its first sleep on (calls.h) can be shorter than that sleep.
	call.LongestNs = min(call.LongestNs, call.BlockedNs)
	if longest == nil {
		return
	}
	longestNs := min(longest.BlockedNs, call.BlockedNs)
	call.LongestNs = max(call.LongestNs, longestNs)
	if longestNs < call.LongestNs {
		return // the longest one was too short to be kept whole, or was lost: nothing is known of it
	}
	call.Stack, call.WakerKind, call.WakerStack = longest.Stack, longest.WakerKind, longest.WakerStack
	call.WakerPid, call.WakerTid, call.WakerComm = longest.WakerPid, longest.WakerTid, longest.WakerComm
	if longest.HopNs > 0 {
		call.HopNs, call.HopStack, call.HopComm = longest.HopNs, longest.HopStack, longest.HopComm
	}
}
