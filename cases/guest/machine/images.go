package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// images returns the guest's kernel and its busybox, downloaded once.
func images(ctx context.Context, arch Arch) (kernel, busybox string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", err
	}
	folder := filepath.Join(cache, "culprit-guest")
	script := fetchOwn
	if arch.Name == runtime.GOARCH {
		busybox, err = exec.LookPath("busybox")
		if err != nil {
			return "", "", err
		}
	} else {
		folder = filepath.Join(folder, arch.Name)
		busybox = filepath.Join(folder, "bin", "busybox")
		script = fetchForeign
	}
	if known := newestKernel(folder); known != "" {
		return known, busybox, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", "", err
	}
	// The package depends on the kernel of the day: without drivers that a guest does not need.
	named := "linux-image-cloud-" + arch.Name
	fetch := exec.CommandContext(ctx, "sh", "-euc", script, "sh", folder, named, arch.Name)
	if text, err := fetch.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("download the guest's kernel (%s): %w: %s", named, err, bytes.TrimSpace(text))
	}
	if known := newestKernel(folder); known != "" {
		return known, busybox, nil
	}
	return "", "", errors.New("the kernel package holds no boot/vmlinuz-*")
}

func newestKernel(folder string) string {
	known, _ := filepath.Glob(filepath.Join(folder, "boot", "vmlinuz-*")) // fails only on a bad pattern
	if len(known) == 0 {
		return ""
	}
	return known[len(known)-1]
}

const fetchOwn = `cd "$1"
	newest=$(apt-cache depends "$2" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	[ -n "$newest" ] || { echo "apt knows no $2: run apt-get update" >&2; exit 1; }
	apt-get download -qq "$newest" 2>/dev/null
	dpkg-deb -x "$newest"_*.deb .
	rm -f -- *.deb`

// fetchForeign has lists of packages of its own: the host's know its own machine only. busybox is
// unpacked last, the kernel behind it: what is there of an attempt that was broken off is not taken
// for the whole.
const fetchForeign = `cd "$1"
	lists="$1/apt/lists" cache="$1/apt/cache"
	mkdir -p "$lists/partial" "$cache/archives/partial"
	apt() { tool=$1; shift; "$tool" -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Dir::State::Lists="$lists" -o Dir::State::status=/dev/null -o Dir::Cache="$cache" "$@"; }
	arch=$3
	apt apt-get -qq update
	newest=$(apt apt-cache depends "$2" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	[ -n "$newest" ] || { echo "the sources of apt have no $2" >&2; exit 1; }
	apt apt-get download -qq "$newest" busybox-static 2>/dev/null
	dpkg-deb -x busybox-static_*.deb .
	dpkg-deb -x "$newest"_*.deb .
	rm -rf -- *.deb apt`
