// Package machine runs a script in a small virtual machine that is emulated instruction by
// instruction: an x86 guest whose clock can be read from tsc, hpet or acpi_pm, with devices as slow
// as they were on old hosts; an arm64 guest with hardware counters, which counts the instructions
// that it emulates. The kernel is Debian's, downloaded with apt-get; nothing is installed and no
// file of the host is touched.
//
//	guest, err := machine.New(ctx, folder, machine.AMD64)
//	guest.Add("/bin/culprit", "bin/culprit")
//	text, err := guest.Run(ctx, "culprit bench time")
//	text, err = guest.Take(ctx, "culprit record -o a.culprit -- gunzip x.gz; hand a.culprit", "from-the-guest")
//
// It refuses to start without QEMU and busybox, and says which package brings them. Absolute times
// in such a guest mean nothing; ratios between its devices are what it is for.
package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"culprit/cases/child"
)

// Machine is a guest that is being put together.
type Machine struct {
	// MegaBytes of memory; the root file system is in it.
	MegaBytes int
	// CPUs are those of the guest. Two run in turns where time is counted by instructions: each
	// takes as long as both.
	CPUs int
	// Words are added to the command line of the guest's kernel: clocksource=hpet.
	Words []string
	// Kernel is the file of the guest's kernel: Debian's, if it is left as it is.
	Kernel string

	arch   Arch
	folder string // where the root of the guest and its images are made
}

// Arch is a kind of machine.
type Arch struct {
	Name     string   // as Debian and Go call it
	emulator string   // the program of QEMU
	packaged string   // what brings it
	options  []string // of the emulator
	kernel   string   // options of the kernel
	port     string   // the guest's second serial port, over which it hands files out; "": it has none
}

// AMD64 has one CPU: with two the kernel does not trust tsc under emulation, and the host needs its
// own. no_timer_check: on a busy host the emulated timer may come too late for the kernel's test of
// it, which panics.
var AMD64 = Arch{Name: "amd64", emulator: "qemu-system-x86_64", packaged: "qemu-system-x86",
	options: []string{"-M", "q35,accel=tcg", "-cpu", "max"},
	kernel:  "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check", port: "/dev/ttyS1"}

// ARM64 counts time by instructions (-icount), one each 2 ns: its counters count exactly what it
// emulates, and what it sleeps takes no time of the host.
var ARM64 = Arch{Name: "arm64", emulator: "qemu-system-aarch64", packaged: "qemu-system-arm",
	options: []string{"-M", "virt", "-cpu", "cortex-a72", "-icount", "shift=1,sleep=off"},
	kernel:  "console=ttyAMA0 quiet panic=-1"}

// New prepares a guest in an empty folder. Its kernel is kept in the user's cache folder.
func New(ctx context.Context, folder string, arch Arch) (*Machine, error) {
	needed := map[string]string{arch.emulator: arch.packaged, "busybox": "busybox-static", "cpio": "cpio"}
	for program, packaged := range needed {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is missing; as root: apt-get install --no-install-recommends %s", program, packaged)
		}
	}
	kernel, busybox, err := images(ctx, arch)
	if err != nil {
		return nil, err
	}
	m := &Machine{MegaBytes: 768, CPUs: 1, Kernel: kernel, arch: arch, folder: folder}
	for _, name := range []string{"bin", "proc", "sys", "dev", "tmp", "run", "etc"} {
		if err := os.MkdirAll(filepath.Join(folder, "root", name), 0o755); err != nil {
			return nil, err
		}
	}
	return m, m.Add(busybox, "bin/busybox")
}

// Add copies a file of the host into the guest's root. Programs must be static: the guest has no
// libraries.
func (m *Machine) Add(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	path := filepath.Join(m.folder, "root", to)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o755)
}

// AddFolder copies a folder with what is in it.
func (m *Machine) AddFolder(from, to string) error {
	return os.CopyFS(filepath.Join(m.folder, "root", to), os.DirFS(from))
}

// AddModule copies a module of the guest's kernel into its root, by its path below the kernel's
// modules; the script loads it with insmod.
func (m *Machine) AddModule(module, to string) error {
	version := strings.TrimPrefix(filepath.Base(m.Kernel), "vmlinuz-")
	folder := filepath.Join(filepath.Dir(m.Kernel), "..", "lib", "modules", version, "kernel")
	return m.Add(filepath.Join(folder, module), to)
}

// start and finish frame what the script prints on the console.
const (
	start  = "---guest-begins---"
	finish = "---guest-ends---"
)

const initScript = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp NO_COLOR=1
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run; mount -t tracefs tracefs /sys/kernel/tracing
ip link set lo up
cd /tmp
echo ` + start + `
%s
echo ` + finish + `
poweroff -f
`

// Run boots the guest, runs a shell script as its first process and returns what that printed.
func (m *Machine) Run(ctx context.Context, script string) (string, error) {
	console, err := m.boot(ctx, script, "-nographic")
	if err != nil {
		return "", err
	}
	return framed(console)
}

// Take is Run with a shell function `hand FILE`: what the script hands out is in the folder
// afterwards, under the file's last name. Where the guest did not come to its end, what it had
// handed out until then is there.
func (m *Machine) Take(ctx context.Context, script, folder string) (string, error) {
	if m.arch.port == "" {
		return "", fmt.Errorf("an emulated %s machine has no second serial port to hand files out", m.arch.Name)
	}
	line := filepath.Join(m.folder, "handed")
	console, err := m.boot(ctx, strings.ReplaceAll(handScript, "PORT", m.arch.port)+script+closeScript,
		"-display", "none", "-monitor", "none", "-serial", "stdio", "-serial", "file:"+line)
	handed := unpack(line, folder)
	if err != nil { // that not all was handed out follows from it
		return "", err
	}
	text, err := framed(console)
	return text, errors.Join(err, handed)
}

// boot packs the guest's root, runs the guest to its end and returns all that its console said.
func (m *Machine) boot(ctx context.Context, script string, options ...string) (string, error) {
	init := filepath.Join(m.folder, "root", "init")
	if err := os.WriteFile(init, fmt.Appendf(nil, initScript, script), 0o755); err != nil {
		return "", err
	}
	image := filepath.Join(m.folder, "initrd")
	pack := exec.CommandContext(ctx, "sh", "-c", `cd "$1" && find . | cpio -o -H newc --quiet > "$2"`, "sh",
		filepath.Join(m.folder, "root"), image)
	if text, err := pack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pack the guest's root: %w: %s", err, bytes.TrimSpace(text))
	}
	child.Bind()
	defer child.Unbind()
	words := append(slices.Clone(m.arch.options), options...)
	words = append(words, "-m", strconv.Itoa(m.MegaBytes), "-smp", strconv.Itoa(m.CPUs), "-no-reboot", "-nic", "none",
		"-kernel", m.Kernel, "-initrd", image, "-append", strings.Join(append([]string{m.arch.kernel}, m.Words...), " "))
	console, err := child.Command(ctx, m.arch.emulator, words...).Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("the guest did not end in time: %w; its last words: %q", ctx.Err(), tail(string(console)))
	}
	if err != nil {
		return "", fmt.Errorf("run the guest: %w", err)
	}
	return string(console), nil
}

// framed cuts out what the script printed: without the firmware's words and the kernel's messages.
func framed(console string) (string, error) {
	console = strings.ReplaceAll(console, "\r", "")
	_, text, began := strings.Cut(console, start+"\n")
	text, _, ended := strings.Cut(text, finish)
	if !began || !ended {
		return "", fmt.Errorf("the guest did not come to its end; its last words: %q", tail(console))
	}
	return kernelMessage.ReplaceAllString(text, ""), nil
}

var kernelMessage = regexp.MustCompile(`(?m)^\[ *\d+\.\d+\] .*\n`)

func tail(text string) string { return text[max(0, len(text)-200):] }
