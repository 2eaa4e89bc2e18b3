package unwind

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/lpm"
	"go.opentelemetry.io/ebpf-profiler/support"
)

// enterRule makes the table of rules of madeFile: from its first byte on the frame pointer leads to
// the caller.
func (m *madeCode) enterRule() error {
	if m.ready {
		return nil
	}
	outer := m.maps[fmt.Sprintf("exe_id_to_%d_stack_deltas", support.StackDeltaBucketSmallest)]
	if m.refused || outer == nil || m.maps["stack_delta_page_to_info"] == nil {
		return errors.New("the library's tables take no rule for made code")
	}
	// Which flag the table was made with depends on the object that was loaded (object.go).
	err := enterRules(outer, innerMapFlag)
	if err != nil {
		err = enterRules(outer, 0)
	}
	m.ready, m.refused = err == nil, err != nil
	return err
}

func enterRules(outer *ebpf.Map, flags uint32) error {
	rules, err := ebpf.NewMap(&ebpf.MapSpec{Name: "made_code", Type: ebpf.Array, KeySize: 4, ValueSize: 4,
		MaxEntries: 1 << support.StackDeltaBucketSmallest, Flags: flags})
	if err != nil {
		return fmt.Errorf("make rules for made code: %w", err)
	}
	defer rules.Close()
	rule := support.StackDelta{UnwindInfo: support.DeltaCommandFlag | uint16(support.UnwindCommandFramePointer)}
	if err := rules.Update(uint32(0), &rule, ebpf.UpdateAny); err != nil {
		return fmt.Errorf("write the rule for made code: %w", err)
	}
	if err := outer.Update(uint64(madeFile), rules, ebpf.UpdateAny); err != nil {
		return fmt.Errorf("enter the rule for made code: %w", err)
	}
	return nil
}

// enterPages makes the rule hold in all pages of a region.
func (m *madeCode) enterPages(one region) error {
	const size = 1 << support.StackDeltaPageBits
	info := support.StackDeltaPageInfo{NumDeltas: 1, MapID: support.StackDeltaBucketSmallest}
	for page := one.start &^ uint64(size-1); page < one.end; page += size {
		if m.pages[page] {
			continue
		}
		if len(m.pages) >= maxMadePages {
			return errFull
		}
		key := support.StackDeltaPageKey{FileID: madeFile, Page: page}
		if err := m.maps["stack_delta_page_to_info"].Update(&key, &info, ebpf.UpdateAny); err != nil {
			return fmt.Errorf("enter a page of made code: %w", err)
		}
		m.pages[page] = true
	}
	return nil
}

// prefixesOf adds the keys of a region in the library's table of mappings.
func prefixesOf(pid libpf.PID, one region, keys map[support.PIDPage]bool) error {
	prefixes, err := lpm.CalculatePrefixList(one.start, one.end)
	if err != nil {
		return fmt.Errorf("enter made code: %w", err)
	}
	for _, prefix := range prefixes {
		keys[pidPage(pid, prefix.Key, prefix.Length)] = true
	}
	return nil
}

// pidPage is a key as the kernel compares it, most significant byte first.
func pidPage(pid libpf.PID, address uint64, length uint32) support.PIDPage {
	return support.PIDPage{PrefixLen: support.BitWidthPID + length, Pid: bits.ReverseBytes32(uint32(pid)),
		Page: bits.ReverseBytes64(address)}
}

// enter maps madeFile at a prefix, unless the library has something there.
func (m *madeCode) enter(key support.PIDPage) error {
	value, err := support.EncodeBiasAndUnwindProgram(0, support.ProgUnwindNative)
	if err != nil {
		return fmt.Errorf("enter made code: %w", err)
	}
	mapping := support.PIDPageMappingInfo{File_id: madeFile, Bias_and_unwind_program: value}
	if err := m.maps["pid_page_to_mapping_info"].Update(&key, &mapping, ebpf.UpdateNoExist); err != nil {
		return fmt.Errorf("enter made code: %w", err)
	}
	return nil
}

// leave takes a prefix out, unless the library has mapped a file there since.
func (m *madeCode) leave(key support.PIDPage) {
	table := m.maps["pid_page_to_mapping_info"]
	var mapping support.PIDPageMappingInfo
	if table.Lookup(&key, &mapping) == nil && mapping.File_id == madeFile {
		_ = table.Delete(&key) // gone already: the library forgot the process
	}
}
