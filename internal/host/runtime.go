package host

import (
	"debug/buildinfo"
	"path"
	"regexp"
	"strconv"
	"strings"

	"culprit/recording"
)

// argumentsLimit bounds the bytes of a command line that are searched for flags of a run-time.
const argumentsLimit = 64 << 10

// RuntimeFacts reads what a process is made of: the build ids of its program and
// libraries, the language run-time with its version and flags, and the file
// systems that it works on. They are sorted by name, each beginning with
// "target."; a process that is gone has none. It costs some milliseconds.
func RuntimeFacts(root string, pid int) []recording.Fact {
	collect := &collector{files: tree{root}}
	folder := "/proc/" + strconv.Itoa(pid)
	if pid <= 0 || !collect.files.exists(folder) {
		return nil
	}
	found := mappedFiles(collect.files, folder)
	collect.libraries(found)
	collect.golang(folder)
	text, _ := collect.files.read(folder+"/cmdline", argumentsLimit)
	arguments := strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
	for _, one := range found {
		collect.java(folder, one, arguments)
		collect.python(one)
		collect.node(folder, one, arguments)
	}
	collect.targetMounts(folder)
	facts := collect.sorted()
	for i := range facts {
		facts[i].Source = strings.ReplaceAll(facts[i].Source, folder+"/", "/proc/PID/")
	}
	return facts
}

// golangSettings are those of a Go build that change how it runs.
var golangSettings = map[string]bool{"-race": true, "-gcflags": true, "-buildmode": true, "-compiler": true,
	"-msan": true, "-asan": true, "-pgo": true, "CGO_ENABLED": true, "GOAMD64": true, "GOARM64": true,
	"GOEXPERIMENT": true, "DefaultGODEBUG": true, "vcs.revision": true, "vcs.modified": true}

// golang keeps what a Go program was built with.
func (collect *collector) golang(folder string) {
	file, err := collect.files.open(folder+"/exe", false)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := buildinfo.Read(file)
	if err != nil {
		return // not a Go program
	}
	source := folder + "/exe"
	collect.add("target.runtime.go.version", info.GoVersion, source)
	for _, setting := range info.Settings {
		if golangSettings[setting.Key] {
			collect.add("target.runtime.go."+clean(strings.TrimPrefix(setting.Key, "-"), 64), redact(setting.Value),
				source)
		}
	}
}

// java keeps the version of a JVM, which is known by its library, and the flags on its command
// line.
func (collect *collector) java(folder string, one mapped, arguments []string) {
	if path.Base(one.path) != "libjvm.so" {
		return
	}
	home := path.Dir(path.Dir(path.Dir(one.path))) // lib/server/libjvm.so
	source := path.Join(folder, "root", home, "release")
	text, _ := collect.files.read(source, fileLimit)
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, "=")
		if name := map[string]string{"JAVA_VERSION": "version", "IMPLEMENTOR": "implementor",
			"IMPLEMENTOR_VERSION": "build"}[key]; name != "" {
			collect.add("target.runtime.java."+name, strings.Trim(strings.TrimSpace(value), `"`), source)
		}
	}
	collect.flags("java", folder, arguments, func(word string) bool {
		return strings.HasPrefix(word, "-X") || strings.HasPrefix(word, "-agent")
	})
}

// takesValue are options whose next word is their value.
var takesValue = map[string]bool{"-cp": true, "-classpath": true, "--class-path": true, "-p": true,
	"--module-path": true, "-r": true, "--require": true, "--import": true}

// flags keeps the words of a command line that set the run-time; behind the program's name they are
// the program's.
func (collect *collector) flags(language, folder string, arguments []string, isFlag func(string) bool) {
	var flags []string
	for i := 1; i < len(arguments) && arguments[i] != "-jar"; i++ {
		value := takesValue[arguments[i-1]]
		if !value && !strings.HasPrefix(arguments[i], "-") {
			break
		}
		if !value && isFlag(arguments[i]) {
			flags = append(flags, arguments[i])
		}
	}
	collect.add("target.runtime."+language+".flags", redact(strings.Join(flags, " ")), folder+"/cmdline")
}

var pythonFile = regexp.MustCompile(`^(?:lib)?python(\d\.\d{1,2})[a-z]*(?:\.so[.\d]*)?$`)

// python keeps the version of CPython, which is in the name of its program or library.
func (collect *collector) python(one mapped) {
	if match := pythonFile.FindStringSubmatch(path.Base(one.path)); match != nil {
		collect.add("target.runtime.python.version", match[1], one.path)
	}
}

var (
	nodeLibrary = regexp.MustCompile(`^libnode\.so\.(\d+)$`)
	nodeDefine  = regexp.MustCompile(`(?m)^#define NODE_(MAJOR|MINOR|PATCH)_VERSION (\d+)$`)
)

// node keeps the version of Node.js: of its headers where they lie beside it, else of its library's
// interface.
func (collect *collector) node(folder string, one mapped, arguments []string) {
	base := path.Base(one.path)
	if match := nodeLibrary.FindStringSubmatch(base); match != nil {
		collect.add("target.runtime.node.modules", match[1], one.path)
	}
	if base != "node" && base != "nodejs" {
		return
	}
	source := path.Join(folder, "root", path.Dir(path.Dir(one.path)), "include/node/node_version.h")
	text, _ := collect.files.read(source, fileLimit)
	var version []string
	for _, match := range nodeDefine.FindAllStringSubmatch(text, 3) {
		version = append(version, match[2])
	}
	if len(version) == 3 {
		collect.add("target.runtime.node.version", strings.Join(version, "."), source)
	}
	collect.flags("node", folder, arguments, func(word string) bool { return strings.HasPrefix(word, "--") })
}

// openFilesLimit bounds the descriptors of a target that are looked at.
const openFilesLimit = 256

// targetMounts keeps what the process's current folder lies on, and the files that it has open: of
// several file systems the one whose mount point comes first, the root's last.
func (collect *collector) targetMounts(folder string) {
	mounts := mountTableOf(collect.files, folder+"/mountinfo")
	if mount, found := mountOf(mounts, collect.files.link(folder+"/cwd")); found {
		collect.mount("target.mount.cwd", mount)
	}
	best, known := mountEntry{}, false
	names := collect.files.names(folder + "/fd")
	for _, name := range names[:min(len(names), openFilesLimit)] {
		mount, found := mountOf(mounts, collect.files.link(folder+"/fd/"+name))
		if !found || !strings.HasPrefix(mount.origin, "/dev/") {
			continue
		}
		if !known || best.point == "/" || mount.point != "/" && mount.point < best.point {
			best, known = mount, true
		}
	}
	if known {
		collect.mount("target.mount.files", best)
	}
}
