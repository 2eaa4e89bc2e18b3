package dependency

import (
	"bytes"
	"compress/zlib"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"

	"culprit/recording"
)

// The limits of what is read of one ELF file.
const (
	maxNote    = 64 << 10
	maxComment = 16 << 10
	maxAudit   = 8 << 20  // of .dep-v0, unpacked
	maxStrings = 64 << 20 // of .rodata
	maxCrates  = 2048
	maxModules = 4096
	maxSymbols = 16 << 20 // of .dynsym
	textWindow = 1 << 20
)

// binary is what an ELF file says of itself.
type binary struct {
	buildID string
	comment string // of the compilers
	golang  *buildinfo.BuildInfo
	crates  []crate
	audited bool   // crates are those that `cargo auditable` noted
	version string // of the run time that it is, "" for none
}

type crate struct {
	name, version string
}

// binary reads an ELF file; nil where it is none.
func (c *collector) binary(root *Root, name string) *binary {
	file := c.held[place{root, name}]
	if file == nil {
		var err error
		if file, err = c.allowed.open(root, name); err != nil {
			return nil
		}
		defer file.Close()
	}
	id := identityOf(file)
	if known, there := c.binaries[id]; there {
		return known
	}
	found := c.readBinary(file, name)
	c.binaries[id] = found
	return found
}

func (c *collector) readBinary(file *os.File, name string) (found *binary) {
	defer func() {
		if recover() != nil { // debug/elf is made for files that linkers wrote
			c.allowed.damaged++
		}
	}()
	if c.allowed.take(maxNote) != nil {
		return nil
	}
	parsed, err := elf.NewFile(file)
	if err != nil {
		return nil
	}
	found = &binary{buildID: buildIDOf(parsed)}
	if comment := parsed.Section(".comment"); comment != nil {
		found.comment = string(sectionBegin(comment, maxComment))
	}
	if parsed.Section(".go.buildinfo") != nil {
		found.golang, _ = buildinfo.Read(file) // nil: it cannot be read
	}
	if found.golang != nil && found.buildID == "" {
		found.buildID = goBuildID(parsed)
	}
	c.readCrates(parsed, found)
	found.version = pythonHex(parsed, name)
	if pattern := versionPattern(name); pattern != nil && found.version == "" {
		c.scan(parsed, pattern, func(match []string) bool {
			found.version = match[1]
			return false
		})
	}
	return found
}

// goBuildID is what Go's linker notes, where there is no other.
func goBuildID(file *elf.File) string {
	section := file.Section(".note.go.buildid")
	if section == nil {
		return ""
	}
	note := sectionBegin(section, maxNote)
	if len(note) < 16 {
		return ""
	}
	size := file.ByteOrder.Uint32(note[4:])
	return string(bytes.TrimRight(note[16:min(len(note), 16+int(min(size, 256)))], "\x00"))
}

// sectionBegin reads the begin of a section, as it stands in the file.
func sectionBegin(section *elf.Section, limit int64) []byte {
	if section.Type == elf.SHT_NOBITS {
		return nil
	}
	data := make([]byte, min(section.FileSize, uint64(limit)))
	n, err := section.ReaderAt.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil
	}
	return data[:n]
}

const noteGNU = 3 // NT_GNU_BUILD_ID

func buildIDOf(file *elf.File) string {
	for _, segment := range file.Progs {
		if segment.Type != elf.PT_NOTE {
			continue
		}
		notes := make([]byte, min(segment.Filesz, maxNote))
		n, err := segment.ReadAt(notes, 0)
		if err != nil && err != io.EOF {
			continue
		}
		if id := noteOf(file, notes[:n]); id != "" {
			return id
		}
	}
	return ""
}

// noteOf walks notes: sizes of name and content, a type, both padded to four bytes.
func noteOf(file *elf.File, notes []byte) string {
	padded := func(size uint32) uint64 { return (uint64(size) + 3) &^ 3 }
	for len(notes) >= 12 {
		name, size := file.ByteOrder.Uint32(notes), file.ByteOrder.Uint32(notes[4:])
		begin := 12 + padded(name)
		next := begin + padded(size)
		if next > uint64(len(notes)) {
			return ""
		}
		if file.ByteOrder.Uint32(notes[8:]) == noteGNU && name == 4 && string(notes[12:15]) == "GNU" &&
			size > 0 && size <= 64 {
			return hex.EncodeToString(notes[begin : begin+uint64(size)])
		}
		notes = notes[next:]
	}
	return ""
}

// auditPackages is what `cargo auditable` writes.
type auditPackages struct {
	Packages []struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Root    bool   `json:"root"`
		Kind    string `json:"kind"`
	} `json:"packages"`
}

// cratePath is a source file of a crate, as messages of panics have it in stripped programs, too.
var cratePath = regexp.MustCompile(
	`/registry/src/[^/\x00]{1,80}/([A-Za-z][A-Za-z0-9_-]{0,63})-(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]{1,40})?)/`)

// readCrates finds the crates in a file that rustc wrote part of.
func (c *collector) readCrates(file *elf.File, found *binary) {
	if section := file.Section(".dep-v0"); section != nil {
		found.crates = c.audit(section)
		found.audited = len(found.crates) > 0
	}
	if found.audited || !strings.Contains(found.comment, "rustc version") {
		return
	}
	seen := map[crate]bool{}
	c.scan(file, cratePath, func(match []string) bool {
		seen[crate{match[1], match[2]}] = true
		return len(seen) < maxCrates
	})
	for one := range seen {
		found.crates = append(found.crates, one)
	}
}

func (c *collector) audit(section *elf.Section) (crates []crate) {
	if c.allowed.take(int64(min(section.FileSize, maxAudit))) != nil {
		return nil
	}
	packed := sectionBegin(section, maxAudit)
	unpacker, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		c.allowed.damaged++
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(unpacker, maxAudit))
	var audited auditPackages
	if err != nil || json.Unmarshal(text, &audited) != nil {
		c.allowed.damaged++
		return nil
	}
	for _, one := range audited.Packages[:min(len(audited.Packages), maxCrates)] {
		if one.Kind != "build" { // used by build scripts only: not in the program
			crates = append(crates, crate{one.Name, one.Version})
		}
	}
	return crates
}

// scan looks for a pattern in a file's read-only data until found answers false.
func (c *collector) scan(file *elf.File, pattern *regexp.Regexp, found func(match []string) bool) {
	section := file.Section(".rodata")
	if section == nil || section.Type == elf.SHT_NOBITS || section.Flags&elf.SHF_COMPRESSED != 0 {
		return
	}
	size := int64(min(section.FileSize, maxStrings))
	if c.allowed.take(size) != nil {
		return
	}
	// Windows overlap by more than a match is long.
	const overlap = 1 << 10
	window := make([]byte, textWindow+overlap)
	for at := int64(0); at < size; at += textWindow {
		n, err := section.ReaderAt.ReadAt(window, at)
		if err != nil && err != io.EOF {
			return
		}
		for _, match := range pattern.FindAllSubmatch(window[:n], -1) {
			words := make([]string, len(match))
			for i := range match {
				words[i] = string(match[i])
			}
			if !found(words) {
				return
			}
		}
	}
}

// linked tells what is linked into a file: modules of Go, crates.
func (c *collector) linked(name string, one *binary, how string) {
	if one.golang != nil {
		c.golang(name, one, how)
	}
	for _, found := range one.crates {
		c.add(recording.Dependency{Kind: recording.DependencyRust, Name: found.name, Version: found.version,
			Place: name, Evidence: recording.SeenBuiltIn, Source: name, Packages: crateModule(found.name)})
	}
	if version := rustcVersion.FindStringSubmatch(one.comment); version != nil {
		c.add(recording.Dependency{Kind: recording.DependencyRuntime, Name: "rustc", Version: version[1], Place: name,
			Evidence: recording.SeenBuiltIn, Source: name, Packages: "std core alloc"})
	}
}

var rustcVersion = regexp.MustCompile(`rustc version ([0-9A-Za-z.()+ -]{1,80})`)

// crateModule is how a crate's functions are named.
func crateModule(name string) string { return strings.ReplaceAll(name, "-", "_") }

// crates takes what debug information told of places in crates.
func (c *collector) crates(frames []recording.Frame) {
	for i := range frames {
		if frames[i].Kind != recording.KindNative {
			continue
		}
		if match := cratePath.FindStringSubmatch(frames[i].File); match != nil {
			c.crateOf(crate{match[1], match[2]}, frames[i].File)
		}
	}
}

// crateOf keeps a crate that no file told.
func (c *collector) crateOf(one crate, source string) {
	for _, row := range c.rows {
		if row.Kind == recording.DependencyRust && row.Name == one.name && row.Version == one.version {
			return
		}
	}
	c.add(recording.Dependency{Kind: recording.DependencyRust, Name: one.name, Version: one.version,
		Evidence: recording.SeenRunning, Source: source, Packages: crateModule(one.name)})
}
