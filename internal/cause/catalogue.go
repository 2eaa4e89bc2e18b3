package cause

import (
	"slices"
	"sync"
)

// Catalogue lists all causes in the order of their families. It is the only list: a cause is added
// by its record and a line here.
func Catalogue() []Cause {
	return []Cause{
		clockSlowSource(),
		clockVDSOBypassed(),
		clockReadOften(),
		syscallTraced(),
		syscallChatty(),
		timerTicker(),
		sleepDeliberate(),
		lockContended(),
		lineFalseSharing(),
		lineTrueSharing(),
		fileJournal(),
		fileWriteback(),
		fileDirtyThrottle(),
		fileInodeLock(),
		fileSync(),
		diskSlow(),
		diskThrottled(),
		cpuThrottled(),
		cpuStarved(),
		cpuConfined(),
		cpuSerial(),
		cpuContended(),
		processShortLived(),
		configDiffers(),
		memoryFaults(),
		memoryPageIn(),
		memoryReclaim(),
		memoryMapLock(),
		runtimeGC(),
		runtimeCold(),
		cacheMisses(),
		branchMisses(),
		frontendStalls(),
		codeGrew(),
		codeAdded(),
		netDelayed(),
		netReconnect(),
		netLoss(),
		monitorAttached(),
		monitorMultiplexed(),
		requestQueued(),
		loopBlocked(),
		downstreamSlow(),
	}
}

// records holds the causes by their ids, from the first Lookup on. Declared with a value, as by
// sync.OnceValue, it would depend on the rules, and these, which look causes up, on it.
var records struct {
	once sync.Once
	byID map[ID]Cause
}

// Lookup finds a cause by its id.
func Lookup(id ID) (Cause, bool) {
	records.once.Do(func() {
		records.byID = map[ID]Cause{}
		for _, cause := range Catalogue() {
			records.byID[cause.ID] = cause
		}
	})
	cause, found := records.byID[id]
	return cause, found
}

// IDs lists the ids of all causes in alphabetical order.
func IDs() []ID {
	all := Catalogue()
	ids := make([]ID, 0, len(all))
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	slices.Sort(ids)
	return ids
}
