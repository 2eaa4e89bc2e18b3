// Package guest runs a script in a small virtual machine that is emulated instruction by instruction, where
// devices are as slow as they were on old hosts: an x86 guest whose clock can be read from tsc, hpet or acpi_pm.
// The kernel is Debian's, downloaded with apt-get; nothing is installed and no file of the host is touched.
//
//	machine, err := guest.New(folder)
//	machine.Add("/bin/culprit", "bin/culprit")
//	text, err := machine.Run(ctx, "culprit bench time")
//
// It refuses to start without qemu-system-x86_64 and busybox, and says which package brings them. Absolute
// times in such a guest mean nothing; ratios between its devices are what it is for.
package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"culprit/cases/child"
)

// Machine is a guest that is being put together.
type Machine struct {
	folder string // where the root of the guest and its images are made
	kernel string
}

// kernelPackage depends on the kernel package of the day: without drivers that a guest does not need.
const kernelPackage = "linux-image-cloud-amd64"

// needed are the programs of the host and the packages that bring them.
var needed = map[string]string{"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio"}

// New prepares a guest in an empty folder. Its kernel is kept in the user's cache folder.
func New(ctx context.Context, folder string) (*Machine, error) {
	for program, packaged := range needed {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is missing; as root: apt-get install --no-install-recommends %s", program, packaged)
		}
	}
	kernel, err := kernelImage(ctx)
	if err != nil {
		return nil, err
	}
	m := &Machine{folder: folder, kernel: kernel}
	for _, name := range []string{"bin", "proc", "sys", "dev", "tmp", "run", "etc"} {
		if err := os.MkdirAll(filepath.Join(folder, "root", name), 0o755); err != nil {
			return nil, err
		}
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return nil, err
	}
	return m, m.Add(busybox, "bin/busybox")
}

// Add copies a file of the host into the guest's root. Programs must be static: the guest has no libraries.
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

// AddModule copies a module of the guest's kernel into its root, by its path below the kernel's modules; the script
// loads it with insmod.
func (m *Machine) AddModule(module, to string) error {
	version := strings.TrimPrefix(filepath.Base(m.kernel), "vmlinuz-")
	folder := filepath.Join(filepath.Dir(m.kernel), "..", "lib", "modules", version, "kernel")
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
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run
cd /tmp
echo ` + start + `
%s
echo ` + finish + `
poweroff -f
`

// Run boots the guest, runs a shell script as its first process and returns what that printed.
func (m *Machine) Run(ctx context.Context, script string) (string, error) {
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
	// One CPU: with two the kernel does not trust tsc under emulation, and the host needs its own.
	child.Bind()
	defer child.Unbind()
	boot := child.Command(ctx, "qemu-system-x86_64", "-M", "q35,accel=tcg", "-cpu", "max", "-m", "768", "-smp", "1",
		"-nographic", "-no-reboot", "-nic", "none", "-kernel", m.kernel, "-initrd", image,
		"-append", "console=ttyS0 quiet panic=-1 tsc=reliable")
	console, err := boot.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("the guest did not end in time: %w", ctx.Err())
	}
	if err != nil {
		return "", fmt.Errorf("run the guest: %w", err)
	}
	return framed(string(console))
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

// kernelImage returns the guest's kernel, downloaded once.
func kernelImage(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "culprit-guest")
	if known, _ := filepath.Glob(filepath.Join(folder, "boot", "vmlinuz-*")); len(known) > 0 {
		return known[len(known)-1], nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	fetch := exec.CommandContext(ctx, "sh", "-euc", `cd "$1"
		newest=$(apt-cache depends "$2" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
		[ -n "$newest" ] || { echo "apt knows no $2: run apt-get update" >&2; exit 1; }
		apt-get download -qq "$newest" 2>/dev/null
		dpkg-deb -x "$newest"_*.deb .
		rm -f -- *.deb`, "sh", folder, kernelPackage)
	if text, err := fetch.CombinedOutput(); err != nil {
		return "", fmt.Errorf("download the guest's kernel (%s): %w: %s", kernelPackage, err, bytes.TrimSpace(text))
	}
	known, _ := filepath.Glob(filepath.Join(folder, "boot", "vmlinuz-*"))
	if len(known) == 0 {
		return "", errors.New("the kernel package holds no boot/vmlinuz-*")
	}
	return known[0], nil
}
