package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"culprit/cases/guest/machine"
)

// image is what all hosts of the hunt have: a Java run time with the store, what puts the load on
// it, the filter, and culprit.
type image struct {
	java      string            // a folder
	classes   string            // a folder
	programs  map[string]string // by the name that each has in a guest
	libraries []string          // of the Java run time, by their paths here, which they have there, too
}

// newImage makes it in a folder. The Java run time has the module java.base alone: 35 MB of 300.
func newImage(ctx context.Context, culprit, folder string) (*image, error) {
	made := &image{java: filepath.Join(folder, "java"), classes: filepath.Join(folder, "store"),
		programs: map[string]string{"culprit": culprit}}
	for _, tool := range []string{"javac", "jlink"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%s is missing; as root: apt-get install --no-install-recommends openjdk-17-jdk-headless",
				tool)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	java := filepath.Join(made.java, "bin", "java")
	steps := [][]string{
		{"javac", "-d", made.classes, "cases/clock/programs/Store.java"},
		{"jlink", "--add-modules", "java.base", "--strip-debug", "--no-header-files", "--no-man-pages", "--output",
			made.java},
		{java, "-XX:+UseSerialGC", "-Xshare:dump"}, // with its classes read beforehand it starts in a third of the time
	}
	for _, program := range []string{"ask", "fence"} {
		made.programs[program] = filepath.Join(folder, program)
		steps = append(steps, []string{"go", "build", "-o", made.programs[program], "./cases/clock/programs/" + program})
	}
	for _, words := range steps {
		step := exec.CommandContext(ctx, words[0], words[1:]...)
		step.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := step.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, text)
		}
	}
	var err error
	made.libraries, err = librariesOf(ctx, made.java, java, filepath.Join(made.java, "lib", "server", "libjvm.so"))
	return made, err
}

// library is a line of ldd: what it loads, by the path where it found that.
var library = regexp.MustCompile(`(?m)(?:=> |^\s+)(/\S+) \(0x`)

// librariesOf are those of the host that programs are linked with.
func librariesOf(ctx context.Context, own string, programs ...string) ([]string, error) {
	text, err := exec.CommandContext(ctx, "ldd", programs...).Output()
	if err != nil {
		return nil, fmt.Errorf("ldd %s: %w", strings.Join(programs, " "), err)
	}
	found := libraries(string(text), own)
	if len(found) == 0 {
		return nil, errors.New("the Java run time is linked with nothing that ldd knows")
	}
	return found, nil
}

// libraries reads what ldd printed, without what lies in a folder of the run time's own.
func libraries(text, own string) []string {
	seen := map[string]bool{}
	var found []string
	for _, match := range library.FindAllStringSubmatch(text, -1) {
		path := filepath.Clean(match[1])
		if !seen[path] && !strings.HasPrefix(path, own+"/") {
			seen[path] = true
			found = append(found, path)
		}
	}
	return found
}

// fill puts it into a guest.
func (m *image) fill(guest *machine.Machine) error {
	errs := []error{guest.AddFolder(m.java, "java"), guest.AddFolder(m.classes, "store")}
	for name, path := range m.programs {
		errs = append(errs, guest.Add(path, filepath.Join("bin", name)))
	}
	for _, path := range m.libraries {
		errs = append(errs, guest.Add(path, path))
	}
	return errors.Join(errs...)
}
