package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	boxID = "0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b2c3d4e5f0a1b"
	// boxScript makes a root of its own in memory, which nobody else sees, and runs a program in it
	// as process 1.
	boxScript = `set -e; mount -t tmpfs box "$1"; cp -a "$2"/. "$1"; shift 2
exec unshare --pid --fork --root="$0" --wd=/ "$@"`
)

// boxRoot makes the files of a container: programs, a library that the host has not, and the
// libraries of the host.
func boxRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"lib", "lib64", "tmp"} {
		if err := os.Mkdir(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	runTool(t, "gcc", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "-o", root+"/lib/libshelf.so", "testdata/shelf.c")
	runTool(t, "gcc", "-O2", "-fomit-frame-pointer", "-o", root+"/box", "testdata/box.c", "-L"+root+"/lib", "-lshelf",
		"-Wl,-rpath,/lib")
	runTool(t, "cp", programs.compile(t, "made.c"), root+"/made")
	needed := runTool(t, "ldd", root+"/made")
	for _, file := range regexp.MustCompile(`/\S+`).FindAllString(needed, -1) {
		if file = strings.TrimSuffix(file, ":"); strings.Contains(file, ".so") {
			folder := "/lib/"
			if strings.Contains(file, "ld-linux") {
				folder = "/lib64/"
			}
			runTool(t, "cp", "-L", file, root+folder)
		}
	}
	return root
}

func runTool(t *testing.T, words ...string) string {
	t.Helper()
	text, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(words, " "), err, text)
	}
	return string(text)
}

// boxGroup makes a cgroup with the name that podman gives one.
func boxGroup(t *testing.T) string {
	t.Helper()
	for _, hierarchy := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		outer := fmt.Sprintf("%s/culprit-box-%d", hierarchy, os.Getpid())
		group := outer + "/libpod-" + boxID
		if os.MkdirAll(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			for _, folder := range []string{group, outer} {
				if err := os.Remove(folder); err != nil {
					t.Errorf("remove a cgroup: %v", err)
				}
			}
		})
		if _, err := os.Stat(group + "/cgroup.procs"); err == nil {
			return group
		}
	}
	t.Fatal("no cgroup can be made below /sys/fs/cgroup")
	return ""
}

// watchBox records a container by its cgroup. It is gone when the window ends.
func watchBox(t *testing.T, root, group string, words ...string) seen {
	t.Helper()
	recorder := standing.get(t)
	point := t.TempDir()
	box := []string{"unshare", "--mount", "--propagation", "private", "sh", "-c", boxScript, point, point, root}
	h := hold(t, append(box, words...)...)
	if err := os.WriteFile(group+"/cgroup.procs", []byte(fmt.Sprint(h.pid())), 0); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Begin(t.Context(), Target{Kind: "cgroup", Cgroup: group}); err != nil {
		t.Fatal(err)
	}
	h.release()
	h.wait(t)
	got := endWindow(t, recorder)
	got.output = h.output.String()
	return got
}

// What runs in a container has its names from files that the host does not see, and is told by its
// container.
func TestContainer(t *testing.T) {
	needs(t)
	root, group := boxRoot(t), boxGroup(t)
	const container = "podman 0a1b2c3d4e5f"
	eventually(t, func() (problems []string) {
		got := watchBox(t, root, group, "/box", "1")
		expected := numbers(t, got.output)["shelf_spin"] * float64(got.Manifest.Hz)
		if found := below(got, "main", "shelf_spin", "rounds"); float64(found) < 0.85*expected {
			problems = append(problems, fmt.Sprintf("%d samples in the container's library, expected %.0f", found, expected))
		}
		if fact := got.Fact("target.container"); fact != container {
			t.Errorf("the target's container is %q", fact)
		}
		for _, process := range got.Processes {
			if process.Container != container {
				t.Errorf("process %d (%s) is in %q", process.Pid, process.Comm, process.Container)
			}
		}
		return problems
	})
}

// In a container a run time names its code by the number that it has there.
func TestMadeCodeInContainer(t *testing.T) {
	needs(t)
	root, group := boxRoot(t), boxGroup(t)
	eventually(t, func() []string { return madeProblems(t, watchBox(t, root, group, "/made", "1.5")) })
}

// below counts the samples whose stacks have functions in this order.
func below(got seen, names ...string) (count int64) {
	for _, sample := range got.Samples {
		wanted := names
		for _, name := range got.StackNames(sample.Stack) {
			if len(wanted) > 0 && name == wanted[0] {
				wanted = wanted[1:]
			}
		}
		if len(wanted) == 0 && sample.Signal == "cpu" {
			count += sample.Count
		}
	}
	return count
}
