package oncpu

import (
	"fmt"
	"io"
	"os"
	"strings"

	"culprit/internal/symbol"
)

const (
	libjvm = "/libjvm.so"
	// ofZGC is the file that ZGC keeps the heap in (gc/z/zPhysicalMemoryBacking_linux.cpp).
	ofZGC       = "/memfd:java_heap"
	maxMetadata = 1024 // words of a process
	asksAtMost  = 3    // for one: a lock may get its memory later, an object on the heap never has a name
)

// knowMetadata asks a JVM that still runs for the names of words that lie in its own metadata, or
// in objects on the heap, whose begins the code tells.
func (p *places) knowMetadata(pid int32, words []uint64, objects map[codeOf]uint64) {
	known := p.programs[pid]
	if known == nil || known.asked && known.hotspot == nil {
		return
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return // it is gone
	}
	defer memory.Close()
	if !known.asked {
		known.asked = true
		known.hotspot = p.openHotSpot(pid, known, memory)
		known.metadata, known.vain = map[uint64]symbol.Member{}, map[uint64]int{}
	}
	if known.hotspot == nil {
		return
	}
	for _, word := range words {
		_, told := known.metadata[word]
		if told || known.vain[word] == asksAtMost || len(known.metadata)+len(known.vain) >= maxMetadata ||
			known.isOfFile(word) {
			continue
		}
		jvm := known.hotspot.Of(memory)
		found, ok := jvm.At(word)
		if object, isField := objects[codeOf{pid, word}]; !ok && isField {
			found, ok = jvm.InObject(object, word-object)
		}
		if !ok {
			found, ok = jvm.Around(word)
		}
		if ok {
			known.metadata[word] = found
			delete(known.vain, word)
		} else {
			known.vain[word]++
		}
	}
}

// isOfFile tells a word of a file's own: its symbols name it, not the JVM.
func (p *program) isOfFile(word uint64) bool {
	file := p.fileOf(word)
	return file != nil && !strings.HasPrefix(file.Path, ofZGC)
}

// openHotSpot reads what a JVM tells of itself; nil where it is none.
func (p *places) openHotSpot(pid int32, of *program, memory io.ReaderAt) *symbol.HotSpot {
	var first *mapping
	high := uint64(0)
	for i := range of.mappings {
		if one := &of.mappings[i]; strings.HasSuffix(one.Path, libjvm) && (first == nil || one.Path == first.Path) {
			if first == nil {
				first = one
			}
			high = one.End
		}
	}
	if first == nil || first.Offset != 0 {
		return nil
	}
	opened := p.open(pid, first)
	if opened == nil || opened.file == nil {
		return nil
	}
	found, err := symbol.OpenHotSpot(opened.file, first.Start, first.Start, high, memory)
	if err != nil {
		return nil // a JVM that tells nothing: no names
	}
	return found
}
