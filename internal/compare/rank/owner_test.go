package rank

import (
	"strings"
	"testing"

	"culprit/internal/compare"
	"culprit/recording"
)

// stack is written "main;read;k:vfs_read": from "k:" on its functions are the kernel's.
func stack(text string) (frames []recording.Frame) {
	kind := recording.KindNative
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' }) {
		rest, kernel := strings.CutPrefix(name, "k:")
		if kernel {
			kind = recording.KindKernel
		}
		frames = append(frames, recording.Frame{Name: rest, Kind: kind, Module: "prog"})
	}
	return frames
}

func TestOwnersOfPaths(t *testing.T) {
	for text, want := range map[string]item{
		"main;work": {SignalCode, "work"},
		"main;work;k:asm_exc_page_fault;exc_page_fault;handle_mm_fault":              {SignalFault, "work"},
		"main;read;k:entry_SYSCALL_64;__x64_sys_read;vfs_read;asm_exc_page_fault":    {SignalFault, "read"},
		"main;read;k:entry_SYSCALL_64;do_syscall_64;__x64_sys_read;vfs_read;copy_to": {SignalCall, "read"},
		"main;read;k:entry_SYSCALL_64":                                               {SignalCall, entryUnder + "read"},
		"main;work;k:asm_sysvec_timer;irq_exit":                                      {SignalKernel, "asm_sysvec_timer"},
		"k:ret_from_fork_asm;kthread":                                                {SignalKernel, "ret_from_fork_asm"},
		"":                                                                           {SignalCode, "[no stack]"},
	} {
		path := compare.Path{Kind: compare.Running, Frames: stack(text)}
		if got := ownerOf(&path); got != want {
			t.Errorf("%s belongs to %+v, want %+v", text, got, want)
		}
	}
}

// What was caught before the call is known belongs to what its function mostly calls.
func TestEntryBelongsToTheCall(t *testing.T) {
	var paths []compare.Path
	for _, text := range []string{"main;write;k:entry_SYSCALL_64;__x64_sys_write", "main;write;k:entry_SYSCALL_64",
		"main;poll;k:entry_SYSCALL_64"} {
		paths = append(paths, compare.Path{Kind: compare.Running, Frames: stack(text), A: []float64{1}})
	}
	keys := owners(paths)
	if keys[1] != keys[0] || keys[2].name != entryUnder+"poll" {
		t.Errorf("owners %+v", keys)
	}
}
