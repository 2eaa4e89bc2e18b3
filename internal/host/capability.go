package host

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Capability is one thing that the recorder or an experiment needs from this
// host, for `culprit doctor`. Why, Hides and Fix are empty when it is available,
// except that Why may tell more about how.
type Capability struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Why       string `json:"why,omitempty"`   // why it is missing
	Hides     string `json:"hides,omitempty"` // what stays unseen without it
	Fix       string `json:"fix,omitempty"`   // the way out
}

// attempts are the calls into the kernel that decide a capability; tests give their own.
type attempts struct {
	countCycles    func() error                            // open a hardware counter and see it count
	sampleHost     func() error                            // open a software sampling event on CPU 0 for all processes
	createMap      func() error                            // create a small BPF map
	readDetached   func(kind, name string) (string, error) // a file of a file system mounted nowhere
	writable       func(path string) error                 // may we write the file
	memlockMaximum func() (uint64, error)                  // hard limit of locked memory, bytes
}

// Capabilities tries what this process may do on the running machine. It leaves nothing behind.
func Capabilities() []Capability {
	return capabilities(tree{"/"}, kernelAttempts())
}

func capabilities(files tree, try attempts) []Capability {
	list := privileges(files)
	return append(list,
		checkBPF(files, try),
		checkMemlock(files, try),
		checkSampling(files, try),
		checkParanoid(files),
		checkKernelSymbols(files),
		checkBTF(files),
		checkTracefs(files, try),
		checkUnprivilegedBPF(files),
		checkLockdown(files, try),
		checkCounters(try),
		checkPressure(files),
		checkClockSource(files, try),
		checkCgroup2(files),
	)
}

// decide returns the missing capability as it is, or its name alone when it is available.
func decide(available bool, missing Capability) Capability {
	if available {
		return Capability{Name: missing.Name, Available: true}
	}
	return missing
}

// privilegeTable lists the Linux capabilities that culprit uses (linux/capability.h).
var privilegeTable = []struct {
	name    string
	bit     uint
	implied uint // another capability that includes it
	hides   string
}{
	{"CAP_BPF", bitBPF, bitSysAdmin, "system calls, waits and stacks: no BPF program can be loaded"},
	{"CAP_PERFMON", bitPerfmon, bitSysAdmin, "stacks of other users' processes and of the kernel"},
	{"CAP_SYS_ADMIN", bitSysAdmin, bitSysAdmin,
		"other processes' tracers; settings cannot be flipped, file systems not mounted"},
	{"CAP_SYS_PTRACE", 19, 19, "memory maps, environment and descriptors of other users' processes"},
	{"CAP_SYSLOG", bitSyslog, bitSyslog, "names of kernel functions in stacks, unless kernel.kptr_restrict is 0"},
	{"CAP_CHECKPOINT_RESTORE", 40, bitSysAdmin,
		"names from programs and libraries that were deleted or replaced while they run"},
	{"CAP_SYS_RESOURCE", bitSysResource, bitSysResource,
		"nothing by itself; the limit of locked memory cannot be raised (see memlock)"},
}

// The bits of the privileges that decide elsewhere, too.
const (
	bitSysAdmin    = 21
	bitSysResource = 24
	bitSyslog      = 34
	bitPerfmon     = 38
	bitBPF         = 39
)

// MissingForBPF names a capability that a set lacks and loading programs that trace takes, "" where
// it lacks none.
func MissingForBPF(set uint64) string {
	for _, privilege := range privilegeTable {
		takes := privilege.bit == bitBPF || privilege.bit == bitPerfmon
		if takes && set>>privilege.bit&1 == 0 && set>>privilege.implied&1 == 0 {
			return privilege.name
		}
	}
	return ""
}

// EffectiveCapabilities returns the effective capabilities of this process as a set of bits,
// numbered as in linux/capability.h. In a user namespace it has none that count: bpf, perf and the
// host's settings ask the first one.
func EffectiveCapabilities() (uint64, error) { return effective(tree{"/"}) }

// effective returns the effective capabilities of this process as a set of bits.
func effective(files tree) (uint64, error) {
	status, err := files.read("/proc/self/status", fileLimit)
	if err != nil || inUserNamespace(files) {
		return 0, err
	}
	bits, err := strconv.ParseUint(field(status, "CapEff"), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("read CapEff of /proc/self/status: %w", err)
	}
	return bits, nil
}

// firstUserNamespace is PROC_USER_INIT_INO of the kernel's include/linux/proc_ns.h.
const firstUserNamespace = "user:[4026531837]"

// inUserNamespace tells a process of a rootless container, or of unshare -U.
func inUserNamespace(files tree) bool {
	own, err := os.Readlink(files.path("/proc/self/ns/user"))
	return err == nil && own != firstUserNamespace
}

// InUserNamespace tells whether this process is in a user namespace of its own: what it may there,
// also as root, is nothing to the host.
func InUserNamespace() bool { return inUserNamespace(tree{"/"}) }

// outside is the way out of a user namespace.
const outside = "run it as root of the host, outside of the user namespace (of a rootless container?)"

// holds tells whether one of the bits is in a set of capabilities.
func holds(files tree, bits ...uint) bool {
	set, err := effective(files)
	for _, bit := range bits {
		if err == nil && set>>bit&1 == 1 {
			return true
		}
	}
	return false
}

func privileges(files tree) []Capability {
	var list []Capability
	_, err := effective(files)
	for _, privilege := range privilegeTable {
		missing := Capability{Name: privilege.name, Why: "not in the effective capabilities of this process",
			Hides: privilege.hides,
			Fix:   "run as root, or grant it: setcap " + strings.ToLower(privilege.name) + "+ep culprit"}
		if inUserNamespace(files) {
			missing.Why, missing.Fix = "this process is in a user namespace: what it may there is nothing to the host", outside
		}
		if err != nil {
			missing.Why = reason(err)
		}
		list = append(list, decide(holds(files, privilege.bit, privilege.implied), missing))
	}
	return list
}
