package cause

import (
	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// The kernel's functions that copy a memory map for a fork, those that take one down at exec and
// exit, and those that only the first write goes through after it (Linux: dup_mmap, exit_mmap,
// do_wp_page).
var (
	copyMapNames  = []string{"dup_mm", "copy_page_range", "copy_p4d_range", "copy_pte_range", "copy_present_pte"}
	tearMapNames  = []string{"exit_mmap", "unmap_vmas", "free_pgtables", "exec_mmap"}
	writeAgain    = []string{"do_wp_page", "wp_page_copy", "wp_page_reuse", "do_huge_pmd_wp_page"}
	writeShared   = []string{"wp_page_shared", "do_page_mkwrite", "fault_dirty_shared_page"}
	firstTouch    = []string{"do_anonymous_page", "do_fault", "do_cow_fault", "do_huge_pmd_anonymous_page", "do_swap_page"}
	forkedClaim   = "page faults grew: memory that a fork shares with its child is copied page by page when it is written"
	forkedMapping = "start programs by posix_spawn or vfork, which copy no memory map, or fork before the memory is " +
		"filled; huge pages make the copy cheaper"
)

const (
	// leastCopied is the part of the growth that copying the memory map must be, for as many
	// processes as before to be what costs.
	leastCopied = 0.1
	// mostTornDown is how much of the time of short-lived processes that has no stack is held to be
	// the end of such copies, against the time of making them: an unwinder learns of a process too
	// late for what it does before its exec.
	mostTornDown = 2.0
)

// findForks claims what as many processes as before cost more because each start copies its
// parent's memory map: the copying itself, and what takes the copies down.
func findForks(s *scene) []finding {
	if _, started := s.count(counts.Processes, ""); started < fewestProcesses {
		return nil
	}
	nameless := over(s.paths, func(path *compare.Path) bool {
		return path.Short && len(path.Frames) == 0
	}).more()
	copied := over(s.paths, copies).more()
	if copied < leastCopied*s.growth {
		return nil
	}
	return []finding{{cause: ProcessShortLived, tell: s.tellForks,
		match: func(i int) bool {
			path := &s.paths[i]
			if len(path.Frames) == 0 {
				return path.Short && path.Kind == compare.Running && nameless <= mostTornDown*copied
			}
			return copies(path) || s.traits[i].spawn && kernelHas(path.Frames, tearMapNames)
		}}}
}

func (s *scene) tellForks(c *claim) {
	s.locateParent(c, nil)
	startedA, startedB := s.count(counts.Processes, "")
	a, b := s.seconds(c)
	c.add("processes", "processes started, each with a copy of its parent's memory map", startedA, startedB,
		"processes/run")
	c.add("processes", "copying memory maps and taking the copies down, for each process", mean(a)/max(1, startedA)*1e3,
		mean(b)/startedB*1e3, "ms")
	c.remedy = forkedMapping
}

// copies reports whether a path copies a memory map.
func copies(path *compare.Path) bool {
	return isRunning(path) && kernelHas(path.Frames, copyMapNames)
}

// leastForked is what copying the memory map must take, against the faults on what it left shared:
// 0.06 to 1.7 of them were seen.
const leastForked = 0.01

// writtenAgain reports whether most of the growth in page faults is of memory that a fork had left
// shared: each page is copied, or at least taken back, when it is written next. Seconds are those
// of the faults that tell. A file's page that was written out is protected in the same way: without
// a fork it is none of these.
func (s *scene) writtenAgain() (a, b float64, most bool) {
	touched, faults := 0.0, 0.0
	for i := range s.paths {
		if !s.traits[i].fault {
			continue
		}
		faults += s.grown(i)
		switch frames := s.paths[i].Frames; {
		case kernelHas(frames, writeAgain) && !kernelHas(frames, writeShared):
			a, b = a+mean(s.paths[i].A), b+mean(s.paths[i].B)
		case kernelHas(frames, firstTouch) || kernelHas(frames, writeShared):
			touched += s.grown(i)
		}
	}
	return a, b, b > a && b-a > touched && over(s.paths, copies).b > leastForked*faults
}

// forkPlace names the function that forks, beside the one whose writes fault.
func (s *scene) forkPlace() string {
	return callerOf(s.paths, func(frame *recording.Frame) bool {
		return frame.Kind == recording.KindKernel && containsAny(frame.Name, copyMapNames)
	})
}
