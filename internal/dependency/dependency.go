// Package dependency tells what a program ran on, from what really ran: files that its processes
// mapped and opened, and the stacks that were taken of them. Each of those files says which
// package, in which version, it belongs to: by what is in it (build id, build information,
// pom.properties) or by what its installer noted beside it (RECORD, package.json, the list of a
// package of the distribution). A manifest of what should be there is not read.
//
// All of it is whatever its owner made of it: files are opened below the root of the process that
// uses them, links that lead out of it stay in it, every size, number and time is bounded, and what
// is left out is counted.
//
//	rows, losses := reader.Read(dependency.Seen{Files: files, Frames: recording.Frames})
//	owner := dependency.NewIndex(rows).Of(&frame) // "python jinja2 3.1.4"
package dependency

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strings"

	"culprit/recording"
)

// File is one file of code that a process of the target used.
type File struct {
	Path string // as the process sees it
	Root *Root  // where it sees it
	How  string // recording.SeenMapped or recording.SeenOpened
	// Held is the file itself where another took its place since, or none: nil where Path leads to
	// it. Whoever opened it closes it.
	Held *os.File
}

// Seen is what is known of a target that has run.
type Seen struct {
	Files  []File
	Frames []recording.Frame
	Roots  []*Root // of its processes; files that only stacks name are looked for there
}

// The limits of one reading. Chosen: what hundreds of packages take, and a hostile tree cannot
// exceed.
const (
	maxFiles   = 16 << 10  // that are looked at
	maxRead    = 256 << 20 // bytes of all files together
	maxRows    = 8 << 10
	maxOwn     = 512     // files of the program's own
	maxOwnSize = 4 << 20 // of one of them
	// maxRemembered is of how many files it is remembered what was read of them: a recorder may see
	// a host for weeks.
	maxRemembered = 8 << 10
)

// Reader reads dependencies; what it found out of a file it remembers as long as the file stays the
// same.
type Reader struct {
	binaries map[identity]*binary
	archives map[identity]*archive
	debian   map[identity]map[string]string // packages by path, by folder of lists
	versions map[identity]map[string]string // of packages, by the file that tells them
	rpm      map[identity]map[string]systemPackage
	scripts  map[identity]string // sums of the program's own files
}

// NewReader makes a reader that has seen nothing yet.
func NewReader() *Reader {
	return &Reader{binaries: map[identity]*binary{}, archives: map[identity]*archive{},
		debian: map[identity]map[string]string{}, rpm: map[identity]map[string]systemPackage{},
		scripts: map[identity]string{}}
}

// collector is one reading.
type collector struct {
	*Reader
	allowed *allowance
	rows    []recording.Dependency
	known   map[recording.Dependency]int // by row without evidence
	sites   map[place]*site
	vendors map[place]*vendor
	held    map[place]*os.File
	nodes   map[place]*nodePackage
	over    int64 // rows and files that did not fit
	gone    int64 // files of containers
}

// place is a path below a root.
type place struct {
	root *Root
	path string
}

// Read finds out what files and frames belong to. Losses are what was left out to keep within the
// limits.
func (r *Reader) Read(seen Seen) (rows []recording.Dependency, losses []recording.Loss) {
	c := &collector{Reader: r, allowed: newAllowance(), known: map[recording.Dependency]int{},
		sites: map[place]*site{}, vendors: map[place]*vendor{}, nodes: map[place]*nodePackage{},
		held: map[place]*os.File{}}
	r.forget()
	for root, files := range c.byRoot(seen) {
		c.read(root, files)
	}
	for _, root := range seen.Roots {
		c.image(root)
	}
	c.crates(seen.Frames)
	c.kernel()
	c.ran(seen.Frames)
	slices.SortFunc(c.rows, func(a, b recording.Dependency) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Place, b.Place), cmp.Compare(a.Hash, b.Hash))
	})
	return c.rows, c.losses()
}

// forget begins anew when too much is remembered.
func (r *Reader) forget() {
	names := 0
	for _, known := range r.debian {
		names += len(known)
	}
	for _, known := range r.rpm {
		names += len(known)
	}
	if len(r.binaries)+len(r.archives)+len(r.scripts)+names > maxRemembered {
		*r = *NewReader()
	}
}

func (c *collector) losses() (losses []recording.Loss) {
	for _, loss := range []recording.Loss{
		{What: "dependencies: files and rows over the limit", Count: c.over},
		{What: "dependencies: files gone with their container", Count: c.gone},
		{What: "dependencies: files not read to keep the cost down", Count: c.allowed.refused},
		{What: "dependencies: files that could not be made sense of", Count: c.allowed.damaged},
	} {
		if loss.Count > 0 {
			losses = append(losses, loss)
		}
	}
	return losses
}

// byRoot sorts the files by whose they are, each path once with the surest evidence.
func (c *collector) byRoot(seen Seen) map[*Root]map[string]string {
	files := map[*Root]map[string]string{}
	add := func(root *Root, name, how string) {
		if root == nil || !path.IsAbs(name) {
			return
		}
		if files[root] == nil {
			files[root] = map[string]string{}
		}
		known, there := files[root][name]
		if !there && len(files[root]) >= maxFiles {
			c.over++
			return
		}
		if !there || how == recording.SeenMapped && known == recording.SeenOpened {
			files[root][name] = how
		}
	}
	for _, file := range seen.Files {
		if file.Held != nil {
			c.held[place{file.Root, path.Clean(file.Path)}] = file.Held
		}
		if file.Held == nil && !file.Root.Has(file.Path) {
			if !file.Root.Own() {
				c.gone++ // with its container
			}
			continue
		}
		add(file.Root, path.Clean(file.Path), file.How)
	}
	looked := map[string]bool{}
	for i := range seen.Frames {
		name := sourceOf(&seen.Frames[i])
		if name == "" || looked[name] {
			continue
		}
		looked[name] = true
		for _, root := range seen.Roots {
			if root.Has(name) {
				add(root, name, recording.SeenRunning)
				break
			}
		}
	}
	return files
}

// sourceOf is the file of a frame whose language runs its sources, as the process sees it; "" for
// others.
func sourceOf(frame *recording.Frame) string {
	switch frame.Kind {
	case recording.KindPython, recording.KindNode, recording.KindRuby, recording.KindPHP, recording.KindOther:
		name := strings.TrimPrefix(frame.File, "file://")
		if path.IsAbs(name) {
			return path.Clean(name)
		}
	}
	return ""
}

// read takes the files of one root: what says itself what it is, then what installers noted of the
// rest.
func (c *collector) read(root *Root, files map[string]string) {
	todo := map[string]unit{}
	for name, how := range files {
		one := unit{path: name, how: how}
		switch kindOf(name) {
		case archiveFile:
			c.jar(root, one)
			continue
		case binaryFile:
			one.binary = c.binary(root, name)
			if one.binary == nil && scriptOf(name) == "" {
				continue // opened to be run, and neither
			}
		}
		todo[name] = one
	}
	c.runtimes(root, todo)
	c.python(root, todo)
	c.node(root, todo)
	c.ruby(root, todo)
	c.composer(root, todo)
	c.exploded(root, todo)
	c.distribution(root, todo)
	c.library(root, todo)
}

// unit is one file that nobody has claimed yet.
type unit struct {
	path   string
	how    string
	binary *binary // nil: a script
}

// add keeps a row, or the surer evidence of one that is there.
func (c *collector) add(row recording.Dependency) {
	key := row
	key.Evidence = ""
	if i, there := c.known[key]; there {
		if recording.Surer(row.Evidence, c.rows[i].Evidence) {
			c.rows[i].Evidence = row.Evidence
		}
		return
	}
	if len(c.rows) >= maxRows {
		c.over++
		return
	}
	for _, text := range []*string{&row.Name, &row.Version, &row.Place, &row.Source} {
		*text = clean(*text)
	}
	c.known[key] = len(c.rows)
	c.rows = append(c.rows, row)
}

const maxText = 512 // bytes of a name, a version or a place

// clean makes a text of a file fit to be shown.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '?'
		}
		return r
	}, strings.TrimSpace(text))
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}

// ran marks what stacks go through.
func (c *collector) ran(frames []recording.Frame) {
	index := NewIndex(c.rows)
	for i := range frames {
		for _, at := range index.rowsOf(&frames[i]) {
			c.rows[at].Evidence = recording.SeenRunning
		}
	}
}
