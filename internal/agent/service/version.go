package service

import (
	"bufio"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/dependency"
	"culprit/recording"
)

// versions finds the versions of executables, each once as long as it is the same file.
type versions struct {
	root   string
	known  map[string]version
	reader *dependency.Reader
}

type version struct {
	file       unix.Stat_t
	text, from string
}

const (
	maxVersions = 4096
	maxNote     = 4 << 10 // bytes of the section of a build id
	shortID     = 16      // digits of a build id
)

func newVersions(root string) *versions {
	return &versions{root: root, known: map[string]version{}, reader: dependency.NewReader()}
}

// learn finds out the versions of executables that are not known yet: of the package that has it,
// of the Go module that it is, else its build id. All are asked for at once, as the lists of
// packages are read for each question.
func (v *versions) learn(paths []string) {
	if len(v.known) >= maxVersions {
		clear(v.known)
	}
	unknown := map[string]unix.Stat_t{}
	for _, path := range paths {
		now, is := v.stat(path)
		if is && !v.isKnown(path, now) {
			unknown[path] = now
		}
	}
	if len(unknown) == 0 {
		return
	}
	packaged := v.packaged(slices.Collect(maps.Keys(unknown)))
	for path, now := range unknown {
		text, from := packaged[path], "package"
		if text == "" {
			text, from = v.find(filepath.Join(v.root, path))
		}
		v.known[path] = version{now, clean(text), from}
	}
}

// stat looks at an executable; false for what is no file that this process sees, as one in a
// container.
func (v *versions) stat(path string) (now unix.Stat_t, is bool) {
	if !filepath.IsAbs(path) {
		return now, false
	}
	err := unix.Stat(filepath.Join(v.root, path), &now)
	return now, err == nil && now.Mode&unix.S_IFMT == unix.S_IFREG
}

func (v *versions) isKnown(path string, now unix.Stat_t) bool {
	known, there := v.known[path]
	return there && known.file.Dev == now.Dev && known.file.Ino == now.Ino && known.file.Mtim == now.Mtim
}

// of gives the version that was learned of the file that is there now.
func (v *versions) of(path string) (text, from string) {
	if now, is := v.stat(path); is && v.isKnown(path, now) {
		known := v.known[path]
		return known.text, known.from
	}
	return "", ""
}

func (v *versions) find(name string) (text, from string) {
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	if info, err := buildinfo.Read(file); err == nil && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version, "build info"
	}
	if id := buildID(file); id != "" {
		return id, "build id"
	}
	return "", ""
}

// packaged asks the package managers of the host, by path.
func (v *versions) packaged(paths []string) map[string]string {
	found := map[string]string{}
	root, err := dependency.OpenRoot(v.root)
	if err != nil {
		return found
	}
	defer root.Close()
	seen := dependency.Seen{}
	for _, path := range paths {
		seen.Files = append(seen.Files, dependency.File{Path: path, Root: root, How: recording.SeenMapped})
	}
	rows, _ := v.reader.Read(seen)
	for _, row := range rows {
		switch row.Kind {
		case recording.DependencyDebian, recording.DependencyRPM, recording.DependencyAlpine:
			found[row.Place] = row.Version
		}
	}
	return found
}

// buildID is the beginning of an ELF file's own.
func buildID(file io.ReaderAt) string {
	object, err := elf.NewFile(file)
	if err != nil {
		return ""
	}
	section := object.Section(".note.gnu.build-id")
	if section == nil || section.Size > maxNote {
		return ""
	}
	note, err := section.Data()
	if err != nil || len(note) < 16 {
		return ""
	}
	id := hex.EncodeToString(note[16:])
	return id[:min(len(id), shortID)]
}

// startedAt is when a process was started, by the clock of now; zero where it cannot be told.
func startedAt(root string, pid int32) time.Time {
	text, err := os.ReadFile(filepath.Join(root, "proc", strconv.Itoa(int(pid)), "stat"))
	if err != nil {
		return time.Time{}
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const startTime = 19 // of the fields behind the name
	if len(fields) <= startTime {
		return time.Time{}
	}
	ticks, err := strconv.ParseInt(fields[startTime], 10, 64)
	booted := bootTime(root)
	if err != nil || ticks < 0 || booted == 0 {
		return time.Time{}
	}
	const perSecond = 100 // USER_HZ
	return time.Unix(booted+ticks/perSecond, 0).UTC()
}

// bootTime is when the host was booted, in seconds of the clock on the wall.
func bootTime(root string) int64 {
	file, err := os.Open(filepath.Join(root, "proc/stat"))
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, 1<<20))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "btime "); is {
			seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if err != nil {
				return 0
			}
			return seconds
		}
	}
	return 0
}
