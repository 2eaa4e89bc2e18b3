package symbol

// hotspotFlags are those of a JVM's flags that say how its objects begin, whether their monitors
// are in a table beside them (JDK 24 and later, always with compact headers), and whether
// references have colors. The flags are an array of structures with a name and an address
// (hotspot/share/runtime/flags/jvmFlag.hpp).
type hotspotFlags struct {
	known                                  bool
	compact, shortClasses, shortReferences bool
	monitorTable, z                        bool
}

const maxFlags = 4096

// reference is the size of one to an object.
func (f *hotspotFlags) reference() uint64 {
	if f.shortReferences {
		return wordBytes / 2
	}
	return wordBytes
}

// flagTable is where a JVM keeps them.
type flagTable struct{ flags, count, name, address uint64 }

// take reads one field of the table of structures; at is where that has the address of a static
// one, 0 of others.
func (t *flagTable) take(h *HotSpot, field string, offset, at uint64) {
	static := func() uint64 {
		variable, _ := h.word(at)
		value, _ := h.word(variable)
		return value
	}
	switch field {
	case "flags":
		t.flags = static()
	case "numFlags":
		t.count = static()
	case "_name":
		t.name = offset
	case "_addr":
		t.address = offset
	}
}

// read looks for the flags; size is that of a structure.
func (t *flagTable) read(h *HotSpot, size uint64) (found hotspotFlags) {
	if t.flags == 0 || size == 0 {
		return found
	}
	wanted := map[string]*bool{"UseCompactObjectHeaders": &found.compact,
		"UseCompressedClassPointers": &found.shortClasses, "UseCompressedOops": &found.shortReferences,
		"UseObjectMonitorTable": &found.monitorTable, "UseZGC": &found.z}
	for i := range min(t.count, maxFlags) {
		name, ok := h.text(t.flags + i*size + t.name)
		value := wanted[name]
		if !ok || value == nil {
			continue // the last one has no name
		}
		if address, ok := h.word(t.flags + i*size + t.address); ok {
			if set, ok := h.bytes(address, 1); ok {
				*value, found.known = set[0] == 1, true
			}
		}
	}
	return found
}
