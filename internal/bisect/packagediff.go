package bisect

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sources is the folder with a version's own files: where it was installed, or where Go and Cargo
// keep what they compile.
func (v *versions) sources(ctx context.Context, position int) (string, error) {
	folder := v.folder(position)
	if v.options.Install != "" {
		return folder, nil
	}
	switch v.ecosystem {
	case golang:
		text, err := client(ctx, folder, "go", "list", "-m", "-f", "{{.Dir}}", v.name)
		if kept := strings.TrimSpace(text); err == nil && kept != "" {
			return kept, nil
		}
		return "", fmt.Errorf("find the source of %s: Go does not keep it: %w", v.name, err)
	case crate:
		home := os.Getenv("CARGO_HOME")
		if home == "" {
			home = filepath.Join(os.Getenv("HOME"), ".cargo")
		}
		name := v.name + "-" + v.options.Candidates[position].Name
		found, err := filepath.Glob(filepath.Join(home, "registry", "src", "*", name))
		if err != nil || len(found) == 0 {
			return "", fmt.Errorf("find the source of %s: it is not below %s", name, home)
		}
		return found[0], nil
	}
	return folder, nil
}

// diff is what changed between two installed versions, with names as they are in the folder of
// each.
func (v *versions) diff(ctx context.Context, before, after int) (string, error) {
	if v.ecosystem == maven && v.options.Install == "" {
		return v.classes(before, after)
	}
	from, err := v.sources(ctx, before)
	if err != nil {
		return "", err
	}
	to, err := v.sources(ctx, after)
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, "git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "-M",
		"--src-prefix=a/", "--dst-prefix=b/", "--", from, to)
	command.Dir, command.Env = v.room, append(gitless(os.Environ()), "LC_ALL=C")
	text, err := command.Output()
	// Status 1 says that there are differences.
	if err != nil && command.ProcessState != nil && command.ProcessState.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("compare the installed versions: %w", err)
	}
	return stripped(string(text), from, to), nil
}

// installers are files that tools write about a package, or make of it: no program of it.
var installers = regexp.MustCompile(`\.dist-info/|\.egg-info/|__pycache__/|/\.package-lock\.json|/\.cargo-ok`)

// stripped takes the folders off the names in a diff, and leaves out what installers write.
func stripped(text, from, to string) string {
	var kept strings.Builder
	dropped := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "diff --git ") {
			dropped = installers.MatchString(line)
		}
		for prefix, folder := range map[string]string{"--- a": from, "+++ b": to} {
			// Git writes an absolute name behind the prefix as it is.
			if rest, found := strings.CutPrefix(line, prefix+folder+"/"); found {
				line = prefix + "/" + rest
			}
		}
		if !dropped {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func (v *versions) read(ctx context.Context, position int, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s lies outside of the package", name)
	}
	folder, err := v.sources(ctx, position)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(folder, name))
	return string(text), err
}

// classes names the classes that differ between two jars: they hold no source, so there is no hunk
// to show.
func (v *versions) classes(before, after int) (string, error) {
	sums := [2]map[string]uint32{}
	_, artifact, _ := strings.Cut(v.name, ":")
	for i, position := range []int{before, after} {
		name := artifact + "-" + v.options.Candidates[position].Name + ".jar"
		archive, err := zip.OpenReader(filepath.Join(v.folder(position), name))
		if err != nil {
			return "", fmt.Errorf("compare the classes of two versions: %w", err)
		}
		sums[i] = map[string]uint32{}
		for _, file := range archive.File {
			sums[i][file.Name] = file.CRC32
		}
		if err := archive.Close(); err != nil {
			return "", fmt.Errorf("compare the classes of two versions: %w", err)
		}
	}
	var changed []string
	for name, sum := range sums[1] {
		if old, known := sums[0][name]; strings.HasSuffix(name, ".class") && (!known || old != sum) {
			changed = append(changed, strings.TrimSuffix(name, ".class"))
		}
	}
	slices.Sort(changed)
	if len(changed) > classesNamed {
		changed = append(changed[:classesNamed], fmt.Sprintf("and %d more", len(changed)-classesNamed))
	}
	return "", errors.New("jars hold no source; of the classes, these differ: " + strings.Join(changed, ", "))
}

// classesNamed are told of those that differ between two jars.
const classesNamed = 20
