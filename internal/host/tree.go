package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode"
)

const (
	fileLimit    = 64 << 10 // bytes of an ordinary file of /proc or /sys
	cpuinfoLimit = 4 << 20  // /proc/cpuinfo takes about 1.5 kB for each of up to some thousand CPUs
	valueLimit   = 1024     // bytes of a fact's value
	namesLimit   = 1 << 16  // entries of a folder
)

var (
	errTooLarge   = errors.New("larger than its limit")
	errNotRegular = errors.New("not a regular file")
)

// tree reads the files of one machine below a root.
type tree struct{ root string }

// path places a path of the machine below the root. ".." cannot leave the root,
// because the name is made absolute before it is joined.
func (files tree) path(name string) string {
	return filepath.Join(files.root, filepath.Join("/", name))
}

// read returns a file of at most limit bytes; a longer one is an error beside its first part.
func (files tree) read(name string, limit int64) (string, error) {
	content, err := contentOf(files.path(name), limit+1)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(content)) > limit {
		return content[:limit], fmt.Errorf("read %s: %w", name, errTooLarge)
	}
	return content, nil
}

// line returns a small file as one clean value, "" when it cannot be read.
func (files tree) line(name string) string {
	content, err := files.read(name, fileLimit)
	if err != nil {
		return ""
	}
	return clean(content, valueLimit)
}

// names lists a folder in order, none when it cannot be read.
func (files tree) names(folder string) []string {
	handle, err := os.Open(files.path(folder))
	if err != nil {
		return nil
	}
	defer handle.Close()
	// Names read before an error or the limit are still true.
	names, _ := handle.Readdirnames(namesLimit)
	sort.Strings(names)
	return names
}

// link returns where a symbolic link points, "" when it is none.
func (files tree) link(name string) string {
	target, err := os.Readlink(files.path(name))
	if err != nil {
		return ""
	}
	return target
}

// exists tells whether a path is there.
func (files tree) exists(name string) bool {
	_, err := os.Stat(files.path(name))
	return err == nil
}

// clean makes a value of untrusted bytes: one line, no control or invisible
// characters that could act on a terminal, at most limit bytes.
func clean(text string, limit int) string {
	cut := false
	if len(text) > 4*limit {
		text, cut = text[:4*limit], true
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	text = strings.Map(func(character rune) rune {
		if !unicode.IsPrint(character) {
			return '?'
		}
		return character
	}, text)
	if len(text) > limit {
		text, cut = strings.ToValidUTF8(text[:limit], ""), true
	}
	if cut {
		text += "…"
	}
	return text
}
