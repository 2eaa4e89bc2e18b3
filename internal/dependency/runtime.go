package dependency

import (
	"debug/elf"
	"fmt"
	"path"
	"regexp"
	"strings"

	"culprit/recording"
)

// Run times are told beside the package that brought them: which language a version is of, and that
// a Python of one's own build and the system's are both one.

// A file of a run time is known by its name; its version stands in its read-only data.
var runTimes = []struct {
	name    string
	file    *regexp.Regexp
	version *regexp.Regexp // its first group
}{
	{"python", regexp.MustCompile(`^(?:lib)?python(?:3|\d\.\d+)[a-z]*(?:\.so[.\d]*)?$`),
		regexp.MustCompile(`\x00(\d\.\d{1,2}\.\d{1,2}(?:(?:a|b|rc)\d+)?\+?)\x00`)},
	{"ruby", regexp.MustCompile(`^(?:libruby[-.\d]*\.so[.\d]*|ruby[.\d]*)$`),
		regexp.MustCompile(`ruby (\d+\.\d+\.\d+(?:p\d+)?) \(20`)},
	{"php", regexp.MustCompile(`^(?:php[-.\d]*|php-fpm[.\d]*|php-cgi[.\d]*|libphp[.\d]*\.so|apache2handler\.so)$`),
		regexp.MustCompile(`PHP/(\d+\.\d+\.\d+[0-9A-Za-z.+~-]*)\x00`)},
	{"perl", regexp.MustCompile(`^(?:perl[.\d]*|libperl\.so[.\d]*)$`), regexp.MustCompile(`\x00v(5\.\d+\.\d+)\x00`)},
	{"node", regexp.MustCompile(`^(?:node|nodejs|libnode\.so[.\d]*)$`),
		regexp.MustCompile(`/download/release/v(\d+\.\d+\.\d+)[/-]`)},
	{"java", regexp.MustCompile(`^libjvm\.so$`),
		regexp.MustCompile(`\x00(\d+(?:\.\d+)*(?:\+|-b)\d+[0-9A-Za-z.+~-]*)\x00`)},
	{"glibc", regexp.MustCompile(`^(?:libc\.so\.6|libc-2\.\d+\.so)$`),
		regexp.MustCompile(`stable release version (\d+\.\d+(?:\.\d+)?)`)},
}

// versionPattern is how the version stands in a run time's file; nil for other files.
func versionPattern(name string) *regexp.Regexp {
	for i := range runTimes {
		if runTimes[i].file.MatchString(path.Base(name)) {
			return runTimes[i].version
		}
	}
	return nil
}

// runtimes tells the run times, and claims the modules that come with them.
func (c *collector) runtimes(root *Root, todo map[string]unit) {
	for name, one := range todo {
		if c.standard(name, one, todo) || one.binary == nil {
			continue
		}
		for i := range runTimes {
			if !runTimes[i].file.MatchString(path.Base(name)) {
				continue
			}
			version, source := one.binary.version, name
			if runTimes[i].name == "java" {
				version, source = c.java(root, name, version)
			}
			if version == "" && runTimes[i].name == "node" {
				version, source = c.nodeVersion(root, name)
			}
			if version == "" && runTimes[i].name == "python" {
				version, source = c.pythonHeader(root, name)
			}
			if version != "" {
				c.add(recording.Dependency{Kind: recording.DependencyRuntime, Name: runTimes[i].name,
					Version: version, Place: name, Hash: one.binary.buildID, Evidence: one.how, Source: source})
			}
		}
	}
}

// java reads the file with which a JDK tells its release.
func (c *collector) java(root *Root, name, version string) (string, string) {
	source := path.Join(path.Dir(name), "../../release")
	values := fields(c.allowed.read(root, source, maxMetadata), "=")
	for _, key := range []string{"JAVA_RUNTIME_VERSION", "JAVA_VERSION"} {
		if value := strings.Trim(values[key], `"`); value != "" {
			if vendor := strings.Trim(values["IMPLEMENTOR"], `"`); vendor != "" && vendor != "N/A" {
				value += " (" + vendor + ")"
			}
			return value, source
		}
	}
	return version, name
}

var nodeDefine = regexp.MustCompile(`(?m)^#define NODE_(?:MAJOR|MINOR|PATCH)_VERSION (\d+)$`)

// nodeVersion reads the headers beside a Node.js whose file does not tell.
func (c *collector) nodeVersion(root *Root, name string) (string, string) {
	source := path.Join(path.Dir(name), "../include/node/node_version.h")
	var version []string
	for _, match := range nodeDefine.FindAllStringSubmatch(c.allowed.read(root, source, maxMetadata), 3) {
		version = append(version, match[1])
	}
	if len(version) < 3 {
		return "", ""
	}
	return strings.Join(version, "."), source
}

// standardModules are folders of the modules that come with a run time: the language, and the
// version in the path.
var standardModules = []struct {
	language string
	folder   *regexp.Regexp
}{
	{"python", regexp.MustCompile(`^(.*/lib(?:64)?/python(\d\.\d+)t?)/`)},
	{"ruby", regexp.MustCompile(`^(.*/lib/ruby/(?:vendor_ruby/)?(\d+\.\d+\.\d+))/`)},
	{"perl", regexp.MustCompile(`^((?:/usr)?/(?:share|lib/[^/]+)/perl(?:-base)?(?:/(\d\.\d+(?:\.\d+)?))?)/`)},
}

var installedModules = regexp.MustCompile(`/(?:site-packages|dist-packages|gems|site_ruby)/`)

// standard claims a module that comes with a run time. The version in its path is only a part of
// it: the row of the run time's own file has all of it.
func (c *collector) standard(name string, one unit, todo map[string]unit) bool {
	for _, known := range standardModules {
		match := known.folder.FindStringSubmatch(name)
		if match == nil || installedModules.MatchString(name) ||
			scriptOf(name) != known.language && path.Ext(name) != ".so" {
			continue
		}
		row := recording.Dependency{Kind: recording.DependencyRuntime, Name: known.language + " modules",
			Version: match[2], Place: match[1], Evidence: one.how, Source: match[1]}
		if one.binary != nil {
			row.Place, row.Hash = name, one.binary.buildID
		}
		c.add(row)
		delete(todo, name)
		return true
	}
	return false
}

var pythonMinor = regexp.MustCompile(`python3\.\d+`)

// pythonHex reads the version that Python from 3.11 on exports as a number, 0x030b07f0 for 3.11.7;
// "" where there is none.
func pythonHex(file *elf.File, name string) string {
	if !runTimes[0].file.MatchString(path.Base(name)) {
		return ""
	}
	section := file.Section(".dynsym")
	if section == nil || section.FileSize > maxSymbols {
		return ""
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return ""
	}
	for _, symbol := range symbols {
		if symbol.Name != "Py_Version" || int(symbol.Section) >= len(file.Sections) {
			continue
		}
		home := file.Sections[symbol.Section]
		var number [8]byte
		if home.Type == elf.SHT_NOBITS || symbol.Value < home.Addr {
			return ""
		}
		if _, err := home.ReadAt(number[:], int64(symbol.Value-home.Addr)); err != nil {
			return ""
		}
		hex := file.ByteOrder.Uint64(number[:])
		version := fmt.Sprintf("%d.%d.%d", hex>>24&0xff, hex>>16&0xff, hex>>8&0xff)
		if level := map[uint64]string{0xa: "a", 0xb: "b", 0xc: "rc"}[hex>>4&0xf]; level != "" {
			version += fmt.Sprint(level, hex&0xf)
		}
		return version
	}
	return ""
}

var pythonDefine = regexp.MustCompile(`(?m)^#define\s+PY_VERSION\s+"([^"]{1,32})"`)

// pythonHeader reads the header beside a Python whose file does not tell.
func (c *collector) pythonHeader(root *Root, name string) (version, source string) {
	folder := pythonMinor.FindString(path.Base(name))
	if folder == "" {
		return "", ""
	}
	for _, above := range []string{"..", "../.."} {
		source = path.Join(path.Dir(name), above, "include", folder, "patchlevel.h")
		if match := pythonDefine.FindStringSubmatch(c.allowed.read(root, source, maxMetadata)); match != nil {
			return match[1], source
		}
	}
	return "", ""
}
