package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// groups are cgroups side by side, one for each service.
type groups struct{ mount, parent string }

// makeGroups finds where cgroup 2 is mounted and names them.
func makeGroups() (g groups, err error) {
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
			g.mount = mount
		}
	}
	if g.mount == "" {
		return g, errors.New("cgroup 2 is not mounted at /sys/fs/cgroup or /sys/fs/cgroup/unified")
	}
	g.parent = fmt.Sprintf("culprit-case-%d", os.Getpid())
	return g, nil
}

// guarding makes the cgroups, says so, and removes them when its input ends, once they are empty.
const guarding = `parent=$1; shift
mkdir -p "$@" && echo made && read -r _
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	rmdir "$@" "$parent" 2>/dev/null
	test -d "$parent" || exit 0
	sleep 0.1
done
exit 1`

// guard has a shell make the cgroups, which outlives this program and removes them, also after a
// kill -9. The function that it returns does so at the end.
func (g groups) guard() (remove func() error, err error) {
	shell := exec.Command("sh", append([]string{"-c", guarding, "sh", g.path("")}, g.paths(mostServices)...)...)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the terminal is not for it
	input, err := shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var trouble bytes.Buffer
	shell.Stderr = &trouble
	if err := shell.Start(); err != nil {
		return nil, err
	}
	remove = func() error {
		_ = input.Close() // it fails only where it is closed
		if err := shell.Wait(); err != nil {
			return fmt.Errorf("remove cgroups %s: %w %s", g.path(""), err, trouble.String())
		}
		return nil
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("make cgroups: %q %w", line, err), remove())
	}
	return remove, nil
}

func (g groups) path(name string) string { return filepath.Join(g.mount, g.parent, name) }

// paths are the directories of the first so many.
func (g groups) paths(count int) []string {
	paths := make([]string, count)
	for i := range paths {
		paths[i] = g.path(fmt.Sprintf("service%02d", i))
	}
	return paths
}

// names are the same as perf takes them.
func (g groups) names(count int) string {
	names := make([]string, count)
	for i := range names {
		names[i] = filepath.Join(g.parent, fmt.Sprintf("service%02d", i))
	}
	return strings.Join(names, ",")
}

// kill ends what runs in them.
func (g groups) kill() {
	for _, path := range g.paths(mostServices) {
		_ = os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0) // since Linux 5.14
	}
}
