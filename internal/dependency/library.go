package dependency

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

var (
	phpExtension = regexp.MustCompile(`/php[\d.]*/(?:extensions/[^/]+|\d{8}[^/]*)/[^/]+\.so$`)
	sharedFile   = regexp.MustCompile(`\.so(?:\.[\d.]+)?$`)
)

// library tells what nobody has claimed: libraries and programs by their build ids, the program's
// own scripts by their content.
func (c *collector) library(root *Root, todo map[string]unit) {
	own := 0
	runTimes := map[string]bool{}
	for i := range c.rows {
		if c.rows[i].Kind == recording.DependencyRuntime {
			runTimes[c.rows[i].Place] = true
		}
	}
	for name, one := range todo {
		if runTimes[name] {
			continue // told
		}
		row := recording.Dependency{Kind: recording.DependencyLibrary, Name: libraryName(name), Place: name,
			Evidence: one.how, Source: name}
		switch {
		case one.binary == nil:
			if own++; own > maxOwn {
				c.over++
				continue
			}
			if source := moduleFile(name); source != name && root.Has(source) {
				row.Place, row.Source = source, source // what was compiled of it holds the time of its source
			}
			row.Kind, row.Name, row.Hash = recording.DependencyProgram, path.Base(row.Place), c.sum(root, row.Place)
		case !sharedFile.MatchString(name):
			row.Kind, row.Name, row.Hash = recording.DependencyProgram, path.Base(name), one.binary.buildID
			row.Version = programVersion(one.binary)
		default:
			row.Hash, row.Version = one.binary.buildID, libraryVersion(name)
			if phpExtension.MatchString(name) {
				row.Name = "php " + strings.TrimSuffix(path.Base(name), ".so")
			}
		}
		if one.binary != nil {
			if row.Hash == "" {
				row.Hash = c.sum(root, name)
			}
			c.linked(name, one.binary, one.how)
		}
		c.add(row)
	}
}

var versionedName = regexp.MustCompile(`^(.+?\.so)\.(\d[\d.]*)$`)

// libraryName is a library's name without its version.
func libraryName(name string) string {
	if match := versionedName.FindStringSubmatch(path.Base(name)); match != nil {
		return match[1]
	}
	return path.Base(name)
}

// libraryVersion is what follows ".so", which is that of the interface and often of the release.
func libraryVersion(name string) string {
	if match := versionedName.FindStringSubmatch(path.Base(name)); match != nil {
		return match[2]
	}
	return ""
}

// programVersion is that of a Go program's main module.
func programVersion(one *binary) string {
	if one.golang == nil {
		return ""
	}
	settings := map[string]string{}
	for _, setting := range one.golang.Settings {
		settings[setting.Key] = setting.Value
	}
	return mainVersion(one.golang.Main.Version, settings)
}

// sum is that of a file's content.
func (c *collector) sum(root *Root, name string) string {
	file, err := c.allowed.open(root, name)
	if err != nil {
		return ""
	}
	defer file.Close()
	id := identityOf(file)
	if known, there := c.scripts[id]; there {
		return known
	}
	if id.size > maxOwnSize {
		c.allowed.refused++
		return ""
	}
	if c.allowed.take(id.size) != nil {
		return ""
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(file, maxOwnSize)); err != nil {
		return ""
	}
	text := "sha256:" + hex.EncodeToString(sum.Sum(nil)[:16])
	c.scripts[id] = text
	return text
}

const maxRelease = 64 << 10

// image tells the release of the system that a root is of.
func (c *collector) image(root *Root) {
	for _, source := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		values := fields(c.allowed.read(root, source, maxRelease), "=")
		value := func(name string) string { return strings.Trim(values[name], `"'`) }
		if value("ID") == "" {
			continue
		}
		version := firstOf(map[string]string{"0": value("BUILD_ID"), "1": value("VERSION_ID")}, "0", "1")
		if point := strings.TrimSpace(c.allowed.read(root, "/etc/debian_version", 64)); value("ID") == "debian" &&
			point != "" {
			version = point
		}
		c.add(recording.Dependency{Kind: recording.DependencyImage, Name: value("ID"), Version: version, Place: "/",
			Evidence: recording.SeenHost, Source: source})
		return
	}
}

// kernel tells the kernel that runs.
func (c *collector) kernel() {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return
	}
	c.add(recording.Dependency{Kind: recording.DependencyKernel, Name: strings.ToLower(text(name.Sysname[:])),
		Version: text(name.Release[:]), Evidence: recording.SeenHost, Source: "uname"})
}

func text(field []byte) string { return unix.ByteSliceToString(field) }
