package symbol

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

const kallsyms = `0000000000000000 A fixed_percpu_data
0000000000001000 A cpu_tss_rw
ffffffff81000000 T srso_alias_untrain_ret
ffffffff81000000 T _stext
ffffffff81000100 T __x64_sys_write
ffffffff81000100 t __pi_write
ffffffff81000200 t helper
ffffffff81000300 D jiffies
ffffffff81000310 b something
ffffffffc0000000 t bpf_prog_6deef7357e7b4530_sd_fw	[bpf]
ffffffffa0000000 t ext4_sync_file	[ext4]
ffffffffa0000040 r table	[ext4]
`

// kernelRoot makes a root with the two files that LoadKernel reads.
func kernelRoot(t *testing.T, symbols, restrict string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "proc/sys/kernel"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"kallsyms": symbols, "sys/kernel/kptr_restrict": restrict} {
		if err := os.WriteFile(filepath.Join(root, "proc", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestKernelNamesFunctions(t *testing.T) {
	kernel, err := LoadKernel(kernelRoot(t, kallsyms, "0\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		address uint64
		name    string
		offset  uint64
		module  string
	}{
		{0xffffffff81000000, "srso_alias_untrain_ret", 0, ""},
		{0xffffffff81000123, "__x64_sys_write", 0x23, ""},
		{0xffffffff810002ff, "helper", 0xff, ""},
		{0xffffffffa0000004, "ext4_sync_file", 4, "ext4"},
	} {
		requireName(t, kernel.table, test.address, test.name, test.offset)
		if module := kernel.Module(test.address - test.offset); module != test.module {
			t.Errorf("module of %s: %q", test.name, module)
		}
	}
	for _, address := range []uint64{0, 0x1000, 0xffffffff80ffffff, 0xffffffff81000300, 0xffffffff81000320,
		0xffffffffa0000041} {
		requireNone(t, kernel.table, address)
	}
}

func TestHiddenKernelAddressesSayTheWayOut(t *testing.T) {
	for restrict, sysctl := range map[string]bool{"0": false, "1": false, "2": true} {
		root := kernelRoot(t, "0000000000000000 T _text\n0000000000000000 t f\t[m]\n", restrict+"\n")
		_, err := LoadKernel(root)
		if !errors.Is(err, ErrHidden) || !strings.Contains(err.Error(), "kptr_restrict="+restrict) ||
			!strings.Contains(err.Error(), "run as root, or with CAP_SYSLOG") ||
			strings.Contains(err.Error(), "sysctl") != sysctl {
			t.Errorf("load: %v", err)
		}
	}
}

func TestKernelRefuses(t *testing.T) {
	for name, symbols := range map[string]string{"empty": "", "damaged": "hello\n", "cut": kallsyms + "ffffffff81",
		"long line": "ffffffff81000000 T " + strings.Repeat("x", 1<<17)} {
		if _, err := LoadKernel(kernelRoot(t, symbols, "0")); err == nil {
			t.Errorf("%s kallsyms were taken", name)
		}
	}
	if _, err := LoadKernel(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no kallsyms: %v", err)
	}
}

// TestRunningKernel reads this host's kernel, within the CPU time that a recorder may take for it.
func TestRunningKernel(t *testing.T) {
	before := processorTime(t)
	kernel, err := LoadKernel("/")
	took := processorTime(t) - before
	if errors.Is(err, ErrHidden) && os.Geteuid() != 0 {
		t.Skip("kernel addresses are shown to root alone on this host")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d functions in %v of CPU time", kernel.Len(), took)
	if took > time.Second { // ten times what it takes on a quiet machine
		t.Errorf("reading kallsyms took %v of CPU time", took)
	}
	found := map[string]uint64{}
	for i, start := range kernel.table.starts {
		found[kernel.table.name(i)] = start
	}
	for _, name := range []string{"vfs_write", "schedule", "do_futex"} {
		start, ok := found[name]
		if !ok {
			t.Errorf("the kernel has no %s", name)
			continue
		}
		requireName(t, kernel.table, start, name, 0)
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func TestVDSO(t *testing.T) {
	table, err := VDSO()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range table.starts {
		names = append(names, table.name(i))
	}
	all := strings.Join(names, " ")
	if !strings.Contains(all, "__vdso_clock_gettime") && !strings.Contains(all, "__kernel_clock_gettime") {
		t.Errorf("functions of the vDSO: %s", all)
	}
	requireUsable(t, table)
}

func TestJITMap(t *testing.T) {
	table, skipped, err := JITMap(strings.NewReader("7f0000001000 100 LMain;::old\n" +
		"0x7f0000002000 0x40 JS:*handle a.js:1:2\nhalf a li\n7f0000003000 0 nothing\n7f0000003000 10\n" +
		"7f0000000f00 200 LMain;::newer\n7f0000002010 10 inside\nffffffffffffffff 10 wraps\n" +
		strings.Repeat("x", 1<<17) + "\n7f0000004000 8 last"))
	if err != nil {
		t.Fatal(err)
	}
	if skipped != 5 {
		t.Errorf("%d lines were left out", skipped)
	}
	requireName(t, table, 0x7f0000001010, "LMain;::newer", 0x110)
	requireNone(t, table, 0x7f0000001100)
	requireName(t, table, 0x7f0000002000, "JS:*handle a.js:1:2", 0)
	requireName(t, table, 0x7f0000002018, "inside", 8)
	requireName(t, table, 0x7f0000002020, "JS:*handle a.js:1:2", 0x20)
	requireName(t, table, 0x7f0000004007, "last", 7)
	if _, _, err := JITMap(strings.NewReader("no map\n")); !errors.Is(err, ErrNoSymbols) {
		t.Errorf("no map: %v", err)
	}
}

// TestTableIsCompact: 100,000 functions with names of 50 bytes take little more than the names.
func TestTableIsCompact(t *testing.T) {
	builder := &tableBuilder{}
	for i := range 100_000 {
		name := builder.keep([]byte(strings.Repeat("n", 44) + hexOf([]byte{byte(i >> 16), byte(i >> 8), byte(i)})))
		builder.add(symbolEntry{start: uint64(i) * 16, size: 16, name: name})
	}
	table := builder.table()
	bytes := len(table.text) + cap(table.starts)*8 + (cap(table.sizes)+cap(table.names))*4 + int(unsafe.Sizeof(*table))
	if table.Len() != 100_000 || bytes > 6_800_000 {
		t.Errorf("%d functions take %d bytes", table.Len(), bytes)
	}
	requireUsable(t, table)
}
