package cause

// Causes of system calls, and what recognises them.
const (
	SyscallTraced ID = "syscall.traced"
	SyscallChatty ID = "syscall.chatty"

	ruleChatty Rule = "chatty calls"
	ruleTracer Rule = "tracer"
)

func syscallTraced() Cause {
	return Cause{ID: SyscallTraced,
		Claim: "every system call pays for a tracer or filter: ptrace, seccomp, audit, ftrace, a perf " +
			"or BPF program on system calls",
		Example: "the service is started under strace, or in a sandbox with many seccomp rules: 2.2 to " +
			"2.8 times the CPU time, as many calls as before, each dearer (traced-strace-c, " +
			"traced-sandbox-python)",
		Evidence: "TracerPid, seccomp mode and number of filters, tracefs instances, holders of perf " +
			"events and BPF programs; frames of tracers and filters in the kernel's system-call entry",
		Proof: "detach or remove the tracer where the program can; audit is never switched on, because " +
			"that cannot be undone",
		Flips: []Flip{{Way: ByRestart, What: PartTracer, Exact: true,
			Text: "start it without the tracer that its command starts"}},
		Remedy: "detach the tracer, or run the filter with fewer rules; let strace use --seccomp-bpf",
		Gain:   "no tracer or filter is attached again; find out who had attached it to A, and what for",
		MistakenAs: "system calls that became dearer by themselves; more calls under a tracer that " +
			"both sides have are syscall.chatty; culprit's own recording appears on both sides",
		Recognise: []recogniser{{ruleTracer, findTraced, []deference{noCPU}}},
	}
}

func syscallChatty() Cause {
	return Cause{ID: SyscallChatty, Nature: ofCode | doneMore,
		Claim: "the same work takes many more system calls (small reads or writes, repeated stat or " +
			"open, polling)",
		Alone: "the work takes many system calls (small reads or writes, repeated stat or open, " +
			"polling)",
		Example: "a file is read 128 bytes at a time instead of 64 KiB: 2.8 times the CPU time, as " +
			"many bytes in 512 times the reads, below fill_buffer (chatty-read-c)",
		Evidence: "calls per run and bytes per call, by call and call site",
		Proof:    attributionOnly,
		Remedy: "buffer or batch: larger reads and writes, vectored calls, keep files open, cache what " +
			"stat returns",
		Gain: "reads and writes stay that large and nothing is polled or opened for each piece again",
		MistakenAs: "syscall.traced, where the number of calls is the same; file.sync, where the " +
			"waiting is in the disk",
		Recognise: []recogniser{
			{ruleChatty, findChatty, []deference{
				noCPU, watched, child, inKernel,
				{[]Rule{ruleClock, ruleTicker, ruleAlarm, ruleSync, ruleReconnect, ruleLock, ruleCold,
					ruleCollector, ruleFaults, ruleSleep, rulePolled},
					"calls whose purpose is known are told by it"},
				{[]Rule{ruleLoss, ruleDelayed, ruleCork}, "what a call waits for is no cost of making it"},
			}},
		},
	}
}
