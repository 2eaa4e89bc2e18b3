package code_test

import (
	"strings"
	"testing"

	"culprit/internal/code"
	"culprit/recording"
)

// stackOf makes frames of "main;[k]do_syscall_64": those in [k] are the kernel's.
func stackOf(text string) (frames []recording.Frame) {
	for _, name := range strings.Split(text, ";") {
		kind := recording.KindNative
		if rest, found := strings.CutPrefix(name, "[k]"); found {
			kind, name = recording.KindKernel, rest
		}
		frames = append(frames, recording.Frame{Name: name, Kind: kind})
	}
	return frames
}

func TestAwaitsMapLock(t *testing.T) {
	for stack, want := range map[string]bool{
		"main;munmap;[k]do_syscall_64;[k]__x64_sys_munmap;[k]__vm_munmap":                                   true,
		"main;mmap;[k]do_syscall_64;[k]vm_mmap_pgoff":                                                       true,
		"main;[k]asm_exc_page_fault;[k]exc_page_fault;[k]do_user_addr_fault;[k]lock_mm_and_find_vma":        true,
		"main;[k]entry;[k]do_mprotect_pkey.constprop.0;[k]down_write_killable;[k]rwsem_down_write_slowpath": true,
		"main;sbrk;[k]do_syscall_64;[k]__do_sys_brk":                                                        true,
		// the same calls at work, or asleep for something else
		"main;munmap;[k]__x64_sys_munmap;[k]__vm_munmap;[k]do_vmi_munmap;[k]unmap_vmas":         false,
		"main;[k]asm_exc_page_fault;[k]do_user_addr_fault;[k]handle_mm_fault;[k]folio_wait_bit": false,
		"main;write;[k]ksys_write;[k]ext4_buffered_write_iter;[k]rwsem_down_write_slowpath":     false,
		"main;munmap":                         false,
		"[k]do_syscall_64;main;vm_mmap_pgoff": false,
	} {
		if got := code.AwaitsMapLock(stackOf(stack)) != ""; got != want {
			t.Errorf("%s: waits for the memory map: %t, not %t", stack, got, want)
		}
	}
}

func TestAwaitsPipe(t *testing.T) {
	for stack, want := range map[string][2]bool{
		"log;write;[k]ksys_write;[k]vfs_write;[k]anon_pipe_write": {true, true},
		"ask;read;[k]ksys_read;[k]vfs_read;[k]pipe_read":          {true, false},
		"ask;read;[k]ksys_read;[k]vfs_read;[k]pipe_read;[k]copy":  {false, false},
		"ask;read;[k]ksys_read;[k]unix_stream_read_generic":       {false, false},
	} {
		frames := stackOf(stack)
		if got := [2]bool{code.AwaitsPipe(frames), code.WritesPipe(frames)}; got != want {
			t.Errorf("%s: waits for a pipe, to write: %t, not %t", stack, got, want)
		}
	}
}
