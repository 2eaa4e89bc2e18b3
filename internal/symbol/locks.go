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

// isLock walks down the types at a place as member does.
func (v *Variables) isLock(typ dwarf.Offset, at int64) bool {
	for range maxTypes {
		entry := v.bare(typ)
		if entry == nil {
			return false
		}
		switch entry.Tag {
		case dwarf.TagStructType, dwarf.TagClassType:
			name, of, from, ok := v.memberAt(entry, at)
			if !ok {
				return false
			}
			if is, _ := entry.Val(dwarf.AttrName).(string); name != "" && lockMembers[is] == name {
				return true
			}
			typ, at = of, at-from
		case dwarf.TagArrayType:
			of, _ := entry.Val(dwarf.AttrType).(dwarf.Offset)
			each := v.sizeOf(of)
			if each == 0 {
				return false
			}
			typ, at = of, at%each
		default:
			return false
		}
	}
	return false
}
