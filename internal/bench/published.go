package bench

// Figure is a published or earlier measured cost of an operation.
type Figure struct {
	Ns    float64 `json:"ns"`
	Where string  `json:"where"`
}

// similarHost is the kind of machine that most figures come from: a KVM guest on a recent AMD server.
const similarHost = "a similar KVM guest"

// published are figures for comparison: this host need not agree, but an order of magnitude apart wants a reason.
func published(name string) []Figure {
	return map[string][]Figure{
		"time.vdso": {{20.6, similarHost + ", tsc"}, {24.6, similarHost + ", kvm-clock"},
			{27, "tsc or kvm-clock (redis #10604)"}, {596, "Xen's clock (redis #10604)"}},
		"time.syscall":    {{138, similarHost}, {412, "the same with a BPF program on system calls"}, {2700, "under strace"}},
		"time.thread-cpu": {{230, similarHost}},
		"syscall.bare":    {{92, similarHost}},
		"switch.pipe":     {{1700, similarHost + ": half of a 3.4 µs round trip"}},
		"timer.sleep":     {{50_000, "Linux's default timer slack alone"}},
		"sharing.alone":   {{5.5, similarHost}},
		"sharing.false":   {{33, similarHost}},
		"sharing.padded":  {{5.7, similarHost}},
		"sharing.pass": {{23, "EPYC 7R13 within a group of cores (core-to-core-latency)"},
			{107, "the same across groups"}},
		"counter.read": {{52, "135 cycles at 2.6 GHz for one register"}},
	}[name]
}
