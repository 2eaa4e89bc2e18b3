package unwind

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/processmanager/ebpfapi"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/tracer"
)

// How a frame of native code is left, the library keeps in sixteen maps by the number of such stack
// deltas that a file has, since maps within a map had to be of one length. The kernel therefore
// followed the search within them sixteen times, in each of the five frames that a program unwinds:
// nine tenths of 202,000 instructions, and those half of what loading cost. Now that lengths may
// differ (BPF_F_INNER_MAP) one map holds the stack deltas of all files.

// deltaPrograms are the programs that look for stack deltas.
var deltaPrograms = []string{"perf_event/unwind_native", "perf_event/unwind_python"}

func deltaMap(index int) string { return fmt.Sprintf(deltaMapName, firstDeltaMap+index) }

// oneDeltaObject copies an object: the programs of the copy look into the first map, whichever of
// them they would have.
func oneDeltaObject(whole []byte, file *elf.File) ([]byte, error) {
	symbols, err := file.Symbols()
	if err != nil {
		return nil, fmt.Errorf("read the unwinder's symbols: %w", err)
	}
	numbers := map[string]uint32{}
	for i, symbol := range symbols {
		numbers[symbol.Name] = uint32(i + 1) // Symbols leaves the first, empty one out
	}
	instead := map[uint32]uint32{}
	for i := range deltaMaps {
		instead[numbers[deltaMap(i)]] = numbers[deltaMap(0)]
	}
	object := bytes.Clone(whole)
	for _, program := range deltaPrograms {
		section, err := sectionNamed(file, ".rel"+program)
		if err != nil {
			return nil, err
		}
		if changed := redirect(object, file.Sections[section], instead); changed != deltaMaps {
			return nil, fmt.Errorf("the unwinder's program %s looks %d times for stack deltas", program, changed)
		}
	}
	return object, nil
}

// redirect has the relocations of a section lead to other symbols, and counts those.
func redirect(object []byte, section *elf.Section, instead map[uint32]uint32) (changed int) {
	for at := section.Offset; at+relocationBytes <= section.Offset+section.Size; at += relocationBytes {
		if other := instead[binary.LittleEndian.Uint32(object[at+relocatedAt:])]; other != 0 {
			binary.LittleEndian.PutUint32(object[at+relocatedAt:], other)
			changed++
		}
	}
	return changed
}

// collection reads the library's programs, as they are or as oneDeltaObject has them.
func collection(oneDelta bool) (*ebpf.CollectionSpec, error) {
	if !oneDelta {
		return support.LoadCollectionSpec()
	}
	file, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return nil, fmt.Errorf("read the unwinder's object: %w", err)
	}
	changed, err := oneDeltaObject(object, file)
	if err != nil {
		return nil, err
	}
	return ebpf.LoadCollectionSpecFromReader(bytes.NewReader(changed))
}

// fillFirstDeltas has the library enter the stack deltas of all files in the first of its maps, and
// frees the others. It is to come before any process is looked at.
func fillFirstDeltas(t *tracer.Tracer) error {
	maps, err := fieldOf[map[string]*ebpf.Map](t, "ebpfMaps")
	if err != nil {
		return err
	}
	manager, err := fieldOf[*processmanager.ProcessManager](t, "processManager")
	if err != nil {
		return err
	}
	handler, err := fieldOf[ebpfapi.EbpfHandler](manager, "ebpf")
	if err != nil {
		return err
	}
	filled, err := fieldOf[[]*ebpf.Map](handler, "ExeIDToStackDeltaMaps")
	if err != nil {
		return err
	}
	if len(filled) != deltaMaps {
		return fmt.Errorf("the unwinder library fills %d maps of stack deltas", len(filled))
	}
	for i := range filled {
		if filled[i] == nil || filled[i] != maps[deltaMap(i)] {
			return fmt.Errorf("the unwinder library does not fill %s", deltaMap(i))
		}
	}
	for i := 1; i < len(filled); i++ {
		delete(maps, deltaMap(i))
		_ = filled[i].Close() // nothing was entered in it
		filled[i] = filled[0]
	}
	return nil
}
