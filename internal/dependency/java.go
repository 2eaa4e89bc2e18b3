package dependency

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	order "encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"culprit/recording"
)

// The limits of what is read of one jar.
const (
	maxDirectory  = 32 << 20 // bytes of its list of members
	maxMembers    = 200_000
	maxProperties = 64 << 10 // bytes of a pom.properties or a manifest
	maxArtifacts  = 512      // artifacts in one jar
	maxNested     = 512      // jars in a jar
	maxPackages   = 64       // packages that a row names
)

// archive is what a jar says of itself.
type archive struct {
	artifacts []artifact
	packages  string // of its classes, shortened
	sum       string // of the content of all members
}

type artifact struct {
	name, version, packages, inside string // inside: the member that it is, or that says so
}

// jar tells the artifacts in a jar: several where they were packed into one.
func (c *collector) jar(root *Root, one unit) {
	file, err := c.allowed.open(root, one.path)
	if err != nil {
		return
	}
	defer file.Close()
	id := identityOf(file)
	known, there := c.archives[id]
	if !there {
		known = c.readJar(file, one.path)
		c.archives[id] = known
	}
	if known == nil {
		return
	}
	for _, found := range known.artifacts {
		row := recording.Dependency{Kind: recording.DependencyJava, Name: found.name, Version: found.version,
			Place: one.path, Hash: known.sum, Evidence: one.how, Source: one.path, Packages: found.packages}
		if found.inside != "" {
			row.Source, row.Hash = one.path+"!/"+found.inside, ""
			row.Evidence = recording.SeenBuiltIn
		}
		c.add(row)
	}
}

func (c *collector) readJar(file *os.File, name string) *archive {
	information, err := file.Stat()
	if err != nil {
		return nil
	}
	members := c.members(file, information.Size())
	if members == nil {
		return nil
	}
	found := &archive{packages: packagesOf(members), sum: sumOf(members)}
	found.artifacts = c.artifacts(members, name, found.packages)
	for _, member := range members {
		if path.Ext(member.Name) != ".jar" || len(found.artifacts) >= maxNested {
			continue
		}
		found.artifacts = append(found.artifacts, c.nested(file, member)...)
	}
	return found
}

// members lists what is in a zip, whose directory must be within the limits before it is read.
func (c *collector) members(source io.ReaderAt, size int64) []*zip.File {
	tail := make([]byte, min(size, 66<<10))
	if _, err := source.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil
	}
	at := strings.LastIndex(string(tail), "PK\x05\x06")
	if at < 0 || len(tail)-at < 22 {
		return nil
	}
	directory := int64(order.LittleEndian.Uint32(tail[at+12:]))
	if directory > maxDirectory || c.allowed.take(directory) != nil { // that of zip64 says 4 GB here
		c.allowed.refused++
		return nil
	}
	reader, err := zip.NewReader(source, size)
	if err != nil && reader == nil || reader == nil || len(reader.File) > maxMembers {
		c.allowed.damaged++
		return nil
	}
	return reader.File
}

// nested reads a jar that is stored in another, as programs in one file have them; of one that is
// packed the name tells.
func (c *collector) nested(source io.ReaderAt, member *zip.File) []artifact {
	name := path.Base(member.Name)
	var list []artifact
	if offset, err := member.DataOffset(); err == nil && member.Method == zip.Store {
		inner := io.NewSectionReader(source, offset, int64(member.CompressedSize64))
		if members := c.members(inner, inner.Size()); members != nil {
			list = c.artifacts(members, name, packagesOf(members))
		}
	}
	if list == nil {
		list = []artifact{byName(name)}
	}
	for i := range list {
		list[i].inside = member.Name
	}
	return list
}

// artifacts reads the pom.properties of a jar; one without is known by its manifest or its name.
func (c *collector) artifacts(members []*zip.File, name, packages string) (list []artifact) {
	var manifest *zip.File
	for _, member := range members {
		if member.Name == "META-INF/MANIFEST.MF" {
			manifest = member
		}
		if !strings.HasPrefix(member.Name, "META-INF/maven/") || path.Base(member.Name) != "pom.properties" ||
			len(list) == maxArtifacts {
			continue
		}
		values := fields(c.member(member), "=")
		if values["artifactId"] != "" {
			list = append(list, artifact{values["groupId"] + ":" + values["artifactId"], values["version"], "",
				member.Name})
		}
	}
	own := byName(name)
	for i := range list {
		_, id, _ := strings.Cut(list[i].name, ":")
		if len(list) == 1 || id == own.name || strings.HasPrefix(path.Base(name), id+"-"+list[i].version) {
			list[i].packages, list[i].inside = packages, ""
			return list
		}
	}
	if manifest != nil {
		values := fields(c.member(manifest), ":")
		title := firstOf(values, "Bundle-SymbolicName", "Automatic-Module-Name", "Implementation-Title")
		title, _, _ = strings.Cut(title, ";")
		version := firstOf(values, "Bundle-Version", "Implementation-Version", "Specification-Version")
		if own.version == "" && version != "" {
			own.version = version
		}
		if own.name == "" && title != "" {
			own.name = title
		}
	}
	own.packages = packages
	return append(list, own)
}

func firstOf(values map[string]string, names ...string) string {
	for _, name := range names {
		if values[name] != "" {
			return values[name]
		}
	}
	return ""
}

func (c *collector) member(member *zip.File) string {
	if c.allowed.take(maxProperties) != nil {
		return ""
	}
	stream, err := member.Open()
	if err != nil {
		return ""
	}
	defer stream.Close()
	text, _ := io.ReadAll(io.LimitReader(stream, maxProperties)) // of a damaged one the begin
	return string(text)
}

// fields reads lines of names and values.
func fields(text, separator string) map[string]string {
	values := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxProperties)
	for lines.Scan() {
		if name, value, found := strings.Cut(lines.Text(), separator); found && values[strings.TrimSpace(name)] == "" {
			values[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return values
}

var jarName = regexp.MustCompile(`^(.+?)-(\d[^/]*?)(?:-(?:all|shaded|jar-with-dependencies))?\.[jw]ar$`)

// byName reads "commons-lang3-3.12.0.jar".
func byName(name string) artifact {
	base := path.Base(name)
	if match := jarName.FindStringSubmatch(base); match != nil {
		return artifact{name: match[1], version: match[2]}
	}
	return artifact{name: strings.TrimSuffix(strings.TrimSuffix(base, ".jar"), ".war")}
}

// packagesOf are the packages of a jar's classes; of one below another the upper one alone.
func packagesOf(members []*zip.File) string {
	seen := map[string]bool{}
	for _, member := range members {
		name := strings.TrimPrefix(strings.TrimPrefix(member.Name, "WEB-INF/classes/"), "BOOT-INF/classes/")
		if folder := path.Dir(name); path.Ext(name) == ".class" && !strings.HasPrefix(name, "META-INF/") {
			seen[strings.ReplaceAll(folder, "/", ".")] = true
		}
	}
	return strings.Join(highest(seen), " ")
}

// highest leaves out what lies below another.
func highest(seen map[string]bool) (list []string) {
	for name := range seen {
		above := name
		for {
			at := strings.LastIndex(above, ".")
			if at < 0 {
				list = append(list, name)
				break
			}
			if above = above[:at]; seen[above] {
				break
			}
		}
	}
	slices.Sort(list)
	return list[:min(len(list), maxPackages)]
}

// sumOf tells whether two jars hold the same: names, sizes and checksums of their members, not
// their times.
func sumOf(members []*zip.File) string {
	lines := make([]string, 0, len(members))
	for _, member := range members {
		if !strings.HasSuffix(member.Name, "/") {
			lines = append(lines, fmt.Sprintf("%s %d %x\n", member.Name, member.UncompressedSize64, member.CRC32))
		}
	}
	slices.Sort(lines)
	sum := sha256.New()
	for _, line := range lines {
		_, _ = io.WriteString(sum, line) // never fails
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)[:16])
}
