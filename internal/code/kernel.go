package code

import (
	"strings"

	"culprit/recording"
)

// syscallPrefixes stand before the name of a system call in its kernel entry function.
// Linux has had these since 4.17, the last ones before.
var syscallPrefixes = words(`__x64_sys_ __ia32_sys_ __ia32_compat_sys_ __arm64_sys_ __riscv_sys_
	__s390x_sys_ __se_sys_ __do_sys_ ksys_ compat_sys_ sys_`)

// SyscallOf returns "write" for "__x64_sys_write", "" for other kernel functions.
func SyscallOf(name string) string {
	for _, prefix := range syscallPrefixes {
		if rest, found := strings.CutPrefix(name, prefix); found {
			if rest == "newfstatat" {
				return rest
			}
			return strings.TrimPrefix(rest, "new") // newstat is the second generation of stat
		}
	}
	return ""
}

// EntersKernel tells the functions that every system call goes through before it is known which it
// is.
func EntersKernel(name string) bool {
	return beginsWithAny(name, kernelEntries)
}

// kernelEntries begin the names of those of x86 and arm64.
var kernelEntries = words(`entry_SYSCALL do_syscall_64 syscall_ x64_sys_call el0_svc do_el0_svc`)

// faultEntries are the kernel's functions that a page fault enters by.
var faultEntries = words(`asm_exc_page_fault exc_page_fault do_page_fault do_user_addr_fault`)

// InKernel reports whether a stack has a function of the kernel whose name contains one of parts.
func InKernel(frames []recording.Frame, parts ...string) bool {
	return KernelFunction(frames, parts...) != ""
}

// KernelFunction is the first such function, "" for none.
func KernelFunction(frames []recording.Frame, parts ...string) string {
	for i := range frames {
		if frames[i].Kind == recording.KindKernel && containsAny(frames[i].Name, parts) {
			return frames[i].Name
		}
	}
	return ""
}

// EntersFault tells the functions that a page fault enters the kernel by.
func EntersFault(name string) bool { return beginsWithAny(name, faultEntries) }
