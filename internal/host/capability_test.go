package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// bare is a host that allows nothing.
func bare() attempts {
	refuse := errors.New("operation not permitted")
	return attempts{
		countCycles: func() error { return refuse }, sampleHost: func() error { return refuse },
		createMap:      func() error { return fmt.Errorf("create a BPF map: %w", errNoSystemCall) },
		readDetached:   func(string, string) (string, error) { return "", refuse },
		writable:       func(string) error { return refuse },
		memlockMaximum: func() (uint64, error) { return 8 << 20, nil },
	}
}

func byName(list []Capability) map[string]Capability {
	named := map[string]Capability{}
	for _, capability := range list {
		named[capability.Name] = capability
	}
	return named
}

func TestEveryMissingCapabilityTellsTheWayOut(t *testing.T) {
	root := plant(t, map[string]string{
		"proc/self/status":                          "CapEff:\t0000000000000000\n",
		"proc/sys/kernel/perf_event_paranoid":       "4\n",
		"proc/sys/kernel/unprivileged_bpf_disabled": "2\n",
		"proc/kallsyms":                             "0000000000000000 T _text\n",
		"sys/kernel/security/lockdown":              "none integrity [confidentiality]\n",
		clocks + "available_clocksource":            "tsc\n",
	})
	list := capabilities(tree{root}, bare())
	if len(list) != 20 {
		t.Errorf("%d capabilities, want 20", len(list))
	}
	for _, capability := range list {
		if capability.Available {
			t.Errorf("%s is said to be there on a host that allows nothing", capability.Name)
		}
		if capability.Why == "" || capability.Hides == "" || capability.Fix == "" {
			t.Errorf("%s does not tell why, what it hides and the way out: %+v", capability.Name, capability)
		}
	}
	if fix := byName(list)["bpf"].Fix; fix != "use a kernel built with CONFIG_BPF_SYSCALL" {
		t.Errorf("without the system call the way out is %q", fix)
	}
}

func TestCapabilitiesOfAPermissiveHost(t *testing.T) {
	root := plant(t, map[string]string{
		"proc/self/status":                          "CapEff:\t000001ffffffffff\n",
		"proc/sys/kernel/perf_event_paranoid":       "-1\n",
		"proc/sys/kernel/unprivileged_bpf_disabled": "0\n",
		"proc/kallsyms":                             "ffffffff81000000 T _text\n",
		"proc/pressure/cpu":                         "some\n",
		"sys/kernel/btf/vmlinux":                    "btf",
		"proc/self/mountinfo": "1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n" +
			"2 0 0:2 / /tr rw - tracefs tracefs rw\n",
		"cg/cgroup.controllers":          "cpu memory\n",
		clocks + "available_clocksource": "tsc hpet\n",
	})
	try := bare()
	try.countCycles, try.sampleHost, try.createMap = succeed, succeed, succeed
	try.writable = func(string) error { return nil }
	try.readDetached = func(string, string) (string, error) { return "", fs.ErrNotExist }
	for _, capability := range capabilities(tree{root}, try) {
		if !capability.Available || capability.Hides != "" || capability.Fix != "" {
			t.Errorf("%s: %+v, want it available and nothing hidden", capability.Name, capability)
		}
	}
}

func succeed() error { return nil }

func TestCapabilitiesOfThisMachine(t *testing.T) {
	named := byName(Capabilities())
	status := field(mustRead(t, "/proc/self/status"), "CapEff")
	t.Logf("CapEff %s", status)
	for name, capability := range named {
		t.Logf("%-20s %-5v %s", name, capability.Available, capability.Why)
	}
	if named["CAP_SYS_ADMIN"].Available && !named["perf-sampling"].Available {
		t.Errorf("perf sampling is missing for a privileged process: %s", named["perf-sampling"].Why)
	}
	if unix.Access("/sys/kernel/btf/vmlinux", unix.R_OK) == nil && !named["btf"].Available {
		t.Error("BTF is there and said to be missing")
	}
}

func mustRead(t *testing.T, name string) string {
	t.Helper()
	text, err := tree{"/"}.read(name, fileLimit)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What hides the kernel's addresses is told by who may not see them: no setting is advised where a
// privilege is missing.
func TestWhyKernelSymbolsAreHidden(t *testing.T) {
	const syslog, nothing = "CapEff:\t0000000400000000\n", "CapEff:\t0000000000000000\n"
	for _, c := range []struct{ status, restrict, why, fix string }{
		{nothing, "0", "no CAP_SYSLOG", "with CAP_SYSLOG; no setting"},
		{nothing, "1", "no CAP_SYSLOG", "with CAP_SYSLOG; no setting"},
		{syslog, "2", "hidden from everyone: kernel.kptr_restrict is 2", "sysctl kernel.kptr_restrict=1"},
		{nothing, "2", "hidden from everyone: kernel.kptr_restrict is 2", "sysctl kernel.kptr_restrict=1"},
		{nothing, "", "no CAP_SYSLOG", "with CAP_SYSLOG; no setting"},
	} {
		files := map[string]string{"proc/self/status": c.status, "proc/kallsyms": "0000000000000000 T _text\n"}
		if c.restrict != "" {
			files["proc/sys/kernel/kptr_restrict"] = c.restrict + "\n"
		}
		found := checkKernelSymbols(tree{plant(t, files)})
		if found.Available || !strings.Contains(found.Why, c.why) || !strings.Contains(found.Fix, c.fix) {
			t.Errorf("kptr_restrict %q, %s: %q, %q; want %q, %q", c.restrict, c.status, found.Why, found.Fix,
				c.why, c.fix)
		}
	}
}

// What a rootless container's root may do is nothing to the host.
func TestCapabilitiesOfAUserNamespace(t *testing.T) {
	root := plant(t, map[string]string{"proc/self/status": "CapEff:\t000001ffffffffff\n",
		"proc/kallsyms": "0000000000000000 T _text\n", "proc/sys/kernel/kptr_restrict": "1\n", "proc/self/ns/none": ""})
	link := filepath.Join(root, "proc/self/ns/user")
	if err := os.Symlink(firstUserNamespace, link); err != nil {
		t.Fatal(err)
	}
	if !byName(privileges(tree{root}))["CAP_BPF"].Available {
		t.Error("CAP_BPF is missing in the first user namespace")
	}
	if err := errors.Join(os.Remove(link), os.Symlink("user:[4026532601]", link)); err != nil {
		t.Fatal(err)
	}
	for _, found := range append(privileges(tree{root}), checkKernelSymbols(tree{root})) {
		if found.Available || !strings.Contains(found.Why, "user namespace") || found.Fix != outside {
			t.Errorf("%s: %+v", found.Name, found)
		}
	}
}
