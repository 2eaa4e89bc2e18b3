package cause

import (
	"culprit/internal/compare"
)

var (
	// journalNames are functions of file systems' journals, which run in every call that changes a
	// file system.
	journalNames = []string{"jbd2_", "ext4_journal", "ext4_handle_dirty", "do_get_write_access", "start_this_handle",
		"xlog_", "xfs_trans_"}
	// fileSystems begin the names of functions of file systems that have a journal.
	fileSystems = []string{"jbd2_", "ext4_", "xfs_"}
	// journalSettings are facts about the journal that files lie under.
	journalSettings = []string{"target.mount.files.journal", "target.mount.cwd.journal"}
	// journalled is the CPU time of calls that the journal made dearer.
	journalled = stall{cause: FileJournal, any: journalNames}
)

// markJournalled takes for the journal's the CPU time of system calls on files that became dearer,
// and not more often, for the journal: most of what they grew by is in its functions, or a good
// part of it where the journal's settings differ as well. What goes through the journal as data is
// given its place on the disk at once (data=journal rules delayed allocation out: fs/ext4/super.c),
// which is outside of the journal's own functions. Without a baseline nothing is dear.
func (s *scene) markJournalled(kind []*stall) {
	if s.oneSided {
		return
	}
	all, journal := map[string]float64{}, map[string]float64{}
	onFiles := func(i int) bool {
		return s.paths[i].Kind == compare.Running && kind[i] == nil && s.traits[i].call != "" && !s.traits[i].sync &&
			kernelHas(s.paths[i].Frames, fileSystems)
	}
	for i := range s.paths {
		if onFiles(i) {
			all[s.traits[i].call] += s.grown(i)
			if kernelHas(s.paths[i].Frames, journalNames) {
				journal[s.traits[i].call] += s.grown(i)
			}
		}
	}
	least := majority
	if len(s.changed(journalSettings...)) > 0 {
		least = leastShare
	}
	for i := range s.paths {
		if !onFiles(i) {
			continue
		}
		call := s.traits[i].call
		a, b := s.callCount(call)
		if all[call] > 0 && journal[call] >= least*all[call] && !more(a, b, timesCalls, 1) {
			kind[i] = &journalled
		}
	}
}
