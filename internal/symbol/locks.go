package symbol

import (
	"debug/dwarf"

	"culprit/recording"
)

// lockMembers are the members that are a lock's word, by the type that has them: of Rust's standard
// library since 1.62 (sys/sync/mutex/futex.rs), of parking_lot (raw_mutex.rs). They are taken by
// instructions in the midst of a function, without a call that would tell a lock. Locks that
// readers share are none: their readers wait for the line, not for each other.
var lockMembers = map[string]string{"Mutex": "futex", "RawMutex": "state"}

// named is a place at so many bytes of a type, told as a lock where it is the word of one.
func (v *Variables) named(object, field string, typ dwarf.Offset, at int64) Member {
	if v.isLock(typ, at) {
		object = recording.LockWord + object
	}
	return Member{Object: cut(object), Field: cut(field)}
}

// isLock tells that a place is a lock's word.
func (v *Variables) isLock(typ dwarf.Offset, at int64) bool {
	for l := range v.levels(typ, at) {
		if l.entry.Tag == dwarf.TagUnionType {
			return false // what it holds now is not known
		}
		if name, _ := l.entry.Val(dwarf.AttrName).(string); lockMembers[name] != "" && "."+lockMembers[name] == l.name {
			return true
		}
	}
	return false
}
