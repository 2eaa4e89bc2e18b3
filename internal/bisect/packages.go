package bisect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// versions are candidates of a registry.
type versions struct {
	options   *Options
	ecosystem string
	name      string
	room      string
}

// ecosystem is how a registry names packages and how one version is installed into a folder of its
// own. Commands get names and versions as variables; nothing is put into their text.
type ecosystem struct {
	names   *regexp.Regexp
	form    string
	install string
	// variables of runs, of which {dir} is the version's folder; one that the user has set already
	// follows behind.
	variables map[string]string
	copies    bool // the program in the current folder is built with each version
}

func ecosystems() map[string]ecosystem {
	return map[string]ecosystem{
		pypi: {names: regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`), form: "pypi:NAME",
			install: `python3 -m pip install --quiet --no-input --disable-pip-version-check --target "$CULPRIT_DIR" ` +
				`"$CULPRIT_PACKAGE==$CULPRIT_VERSION"`,
			variables: map[string]string{"PYTHONPATH": "{dir}"}},
		npm: {names: regexp.MustCompile(`^(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*$`), form: "npm:NAME",
			install: `npm install --silent --no-audit --no-fund --no-save --prefix "$CULPRIT_DIR" -- ` +
				`"$CULPRIT_PACKAGE@$CULPRIT_VERSION"`,
			variables: map[string]string{"NODE_PATH": "{dir}/node_modules"}},
		golang: {names: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9._~-]+)*$`), form: "go:PATH",
			install: `cd "$CULPRIT_DIR" && go get "$CULPRIT_PACKAGE@$CULPRIT_VERSION" && ` +
				`go mod tidy && go build -o bin/ ./...`,
			variables: map[string]string{"PATH": "{dir}/bin"}, copies: true},
		maven: {names: regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*:[A-Za-z0-9_][A-Za-z0-9._-]*$`),
			form: "maven:GROUP:ARTIFACT",
			install: `cd "$CULPRIT_DIR" && mvn --quiet --batch-mode ` +
				`org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=.`,
			variables: map[string]string{"CLASSPATH": "{dir}/*"}},
		crate: {names: regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`), form: "crate:NAME",
			install: `cd "$CULPRIT_DIR" && cargo add --quiet "$CULPRIT_PACKAGE@=$CULPRIT_VERSION" && ` +
				`cargo build --quiet --release`,
			variables: map[string]string{"PATH": "{dir}/target/release"}, copies: true},
	}
}

// openVersions reads --package.
func openVersions(options *Options) (*versions, error) {
	kind, name, _ := strings.Cut(options.Package, ":")
	known, found := ecosystems()[kind]
	if !found {
		return nil, fmt.Errorf("package %q: give pypi:NAME, npm:NAME, go:PATH, maven:GROUP:ARTIFACT or crate:NAME",
			options.Package)
	}
	if len(name) > 214 || !known.names.MatchString(name) {
		return nil, fmt.Errorf("package %q: %q is no name of that registry; give %s", options.Package, name, known.form)
	}
	return &versions{options: options, ecosystem: kind, name: name}, nil
}

// list puts the versions between the ends in their order, the good end first.
func (v *versions) list(ctx context.Context) ([]Candidate, error) {
	good, ok := readVersion(v.ecosystem, v.options.Good)
	if !ok {
		return nil, fmt.Errorf("--good %q is no version: give one such as 3.1.0", v.options.Good)
	}
	bad, ok := readVersion(v.ecosystem, v.options.Bad)
	if !ok {
		return nil, fmt.Errorf("--bad %q is no version: give one such as 3.4.2", v.options.Bad)
	}
	if len(v.options.Versions) > 0 {
		return v.given(good, bad)
	}
	listed, err := published(ctx, v.ecosystem, v.name, os.TempDir())
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("list the versions of %s: %w", v.options.Package, err)
	}
	var all []version
	for _, text := range listed {
		if one, ok := readVersion(v.ecosystem, text); ok {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, compareVersions)
	from, to := position(all, good), position(all, bad)
	switch {
	case from < 0:
		return nil, fmt.Errorf("--good %s is no published version of %s; the nearest is %s", good.text, v.options.Package,
			nearest(all, good))
	case to < 0:
		return nil, fmt.Errorf("--bad %s is no published version of %s; the nearest is %s", bad.text, v.options.Package,
			nearest(all, bad))
	case from == to:
		return nil, fmt.Errorf("--good %s and --bad %s are the same version", good.text, bad.text)
	case from > to:
		return nil, fmt.Errorf("--bad %s is before --good %s: exchange them", bad.text, good.text)
	}
	var line []Candidate
	for i, one := range all[from : to+1] {
		if one.pre && !v.options.Pre && i > 0 && i < to-from {
			continue
		}
		line = append(line, Candidate{Name: one.text})
	}
	return numbered(line), nil
}

// given takes the versions as they were typed.
func (v *versions) given(good, bad version) ([]Candidate, error) {
	var line []Candidate
	for _, text := range v.options.Versions {
		one, ok := readVersion(v.ecosystem, text)
		if !ok {
			return nil, fmt.Errorf("--versions: %q is no version", text)
		}
		line = append(line, Candidate{Name: one.text})
	}
	at := func(name string) int { return slices.IndexFunc(line, func(c Candidate) bool { return c.Name == name }) }
	from, to := at(good.text), at(bad.text)
	if from < 0 || to < 0 || from >= to {
		return nil, fmt.Errorf("--versions must hold --good %s and, behind it, --bad %s", good.text, bad.text)
	}
	return numbered(line[from : to+1]), nil
}

func position(all []version, one version) int {
	return slices.IndexFunc(all, func(v version) bool { return v.text == one.text || compareVersions(v, one) == 0 })
}

// nearest is the last version before one that does not exist, else the first one.
func nearest(all []version, one version) string {
	best := "none"
	for _, v := range all {
		if best == "none" || compareVersions(v, one) < 0 {
			best = v.text
		}
	}
	return best
}

func (v *versions) identity() string {
	return v.options.Package + "\x00" + v.options.Install + "\x00" + v.options.Folder
}

func (v *versions) enter(_ context.Context, room string) error {
	v.room = room
	return nil
}

// folder has the same length for each version: a program's speed can hang on the length of its
// path.
func (v *versions) folder(position int) string {
	sum := sha256.Sum256([]byte(v.options.Candidates[position].Name))
	return filepath.Join(v.room, hex.EncodeToString(sum[:6]))
}

// fetch makes the folder; what fills it is the command of build.
func (v *versions) fetch(ctx context.Context, position int) error {
	folder := v.folder(position)
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("clear %s: %w", folder, err)
	}
	if v.options.Install == "" && ecosystems()[v.ecosystem].copies {
		return v.copyProgram(folder)
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return fmt.Errorf("make folder of a version: %w", err)
	}
	if v.options.Install == "" && v.ecosystem == maven {
		return v.describeMaven(position)
	}
	return nil
}

// copyProgram copies the program in the current folder, without what git, builds and culprit keep
// there.
func (v *versions) copyProgram(folder string) error {
	from := v.options.Folder
	left := []string{filepath.Join(from, ".git"), filepath.Join(from, "target"), v.options.Case, v.options.Cache}
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if slices.Contains(left, path) || strings.HasPrefix(entry.Name(), "culprit-bisect-") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(folder, name), 0o755)
		case !info.Mode().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, name), text, info.Mode().Perm())
	})
	if err != nil {
		return fmt.Errorf("copy the program in %s: %w", from, err)
	}
	return nil
}

// describeMaven writes the project whose only dependency is the version. Names and versions hold no
// sign of XML.
func (v *versions) describeMaven(position int) error {
	group, artifact, _ := strings.Cut(v.name, ":")
	text := `<project><modelVersion>4.0.0</modelVersion><groupId>culprit</groupId><artifactId>bisect</artifactId>` +
		`<version>1</version><dependencies><dependency><groupId>` + group + `</groupId><artifactId>` + artifact +
		`</artifactId><version>` + v.options.Candidates[position].Name + `</version></dependency></dependencies></project>`
	if err := os.WriteFile(filepath.Join(v.folder(position), "pom.xml"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("describe a version to Maven: %w", err)
	}
	return nil
}

func (v *versions) build(int) string {
	if v.options.Install != "" {
		return expanded(v.options.Install)
	}
	return ecosystems()[v.ecosystem].install
}

// The command runs where the user is: the program is the same, only the package's folder changes.
func (v *versions) workFolder(int) string  { return v.options.Folder }
func (v *versions) buildFolder(int) string { return v.options.Folder }

func (v *versions) environment(position int) []string {
	folder := v.folder(position)
	variables := []string{"CULPRIT_DIR=" + folder, "CULPRIT_PACKAGE=" + v.name,
		"CULPRIT_VERSION=" + v.options.Candidates[position].Name}
	for name, value := range ecosystems()[v.ecosystem].variables {
		value = strings.ReplaceAll(value, "{dir}", folder)
		if before := os.Getenv(name); before != "" {
			value += string(os.PathListSeparator) + before
		}
		variables = append(variables, name+"="+value)
	}
	return variables
}

func (v *versions) discard(_ context.Context, position int) error {
	return os.RemoveAll(v.folder(position))
}
