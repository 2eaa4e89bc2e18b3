package bench

// Figure is a published or earlier measured cost of an operation.
type Figure struct {
	Ns    float64 `json:"ns"`
	Where string  `json:"where"`
	// ClockSources are those of the kernel that it is known for, where it depends on that.
	ClockSources []string `json:"clock_sources,omitempty"`
}

// similarHost is the kind of machine that most figures come from: a KVM guest on a recent AMD
// server.
const similarHost = "a similar KVM guest"

// published are figures for comparison: this host need not agree, but an order of magnitude apart
// wants a reason.
func published(name string) []Figure {
	of := func(ns float64, where string, clockSources ...string) Figure {
		return Figure{ns, where, clockSources}
	}
	return map[string][]Figure{
		"time.vdso": {of(20.6, similarHost+", tsc", "tsc"), of(24.6, similarHost+", kvm-clock", "kvm-clock"),
			of(27, "tsc or kvm-clock (redis #10604)", "tsc", "kvm-clock"),
			of(596, "Xen's clock (redis #10604)", "xen")},
		"time.syscall": {of(138, similarHost), of(412, "the same with a BPF program on system calls"),
			of(2700, "under strace")},
		"time.thread-cpu": {of(230, similarHost)},
		"syscall.bare":    {of(92, similarHost)},
		"switch.pipe":     {of(1700, similarHost+": half of a 3.4 µs round trip")},
		"timer.sleep":     {of(50_000, "Linux's default timer slack alone")},
		"sharing.alone":   {of(5.5, similarHost)},
		"sharing.false":   {of(33, similarHost)},
		"sharing.padded":  {of(5.7, similarHost)},
		"sharing.pass": {of(23, "EPYC 7R13 within a group of cores (core-to-core-latency)"),
			of(107, "the same across groups")},
		"counter.read": {of(52, "135 cycles at 2.6 GHz for one register")},
	}[name]
}
