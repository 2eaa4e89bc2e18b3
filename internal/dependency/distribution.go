package dependency

import (
	"bufio"
	"io"
	"maps"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"culprit/recording"
)

// The limits of a database of packages.
const (
	maxLists  = 96 << 20 // bytes of all lists together
	maxList   = 16 << 20 // of one
	maxStatus = 32 << 20
	maxLine   = 64 << 10
)

// replaced stands for the version of a file that was replaced while a process ran on with it.
const replaced = "replaced on disk"

const (
	debianInfo   = "/var/lib/dpkg/info"
	debianStatus = "/var/lib/dpkg/status"
	alpineAll    = "/lib/apk/db/installed"
)

// distribution claims what packages of the system brought: libraries, programs, modules of scripts.
func (c *collector) distribution(root *Root, todo map[string]unit) {
	if len(todo) == 0 {
		return
	}
	kind, source, owned := c.systemOwners(root, todo)
	for name, one := range todo {
		owner, found := owned[name]
		if !found || owner.name == "" {
			continue
		}
		row := recording.Dependency{Kind: kind, Name: owner.name, Version: owner.version, Place: name, Evidence: one.how,
			Source: source}
		if c.held[place{root, name}] != nil { // it ran on: what is installed now is another
			row.Version = replaced
		}
		if one.binary != nil {
			row.Hash = one.binary.buildID
			c.linked(name, one.binary, one.how)
		} else {
			row.Place = name[:strings.LastIndex(name, "/")] // of scripts the folder: hundreds lie in one
		}
		c.add(row)
		delete(todo, name)
	}
}

// systemOwners asks the database of packages that a root has.
func (c *collector) systemOwners(root *Root, todo map[string]unit) (kind, source string,
	owned map[string]systemPackage) {
	owned = map[string]systemPackage{}
	var owners, versions map[string]string
	if info := c.allowed.names(root, debianInfo); len(info) > 0 {
		kind, source = recording.DependencyDebian, debianInfo
		owners = c.debianOwners(root, info, todo)
		versions = c.debianVersions(root, owners)
	} else if found, database := c.rpmOwners(root, todo); database != "" {
		return recording.DependencyRPM, database, found
	} else {
		kind, source = recording.DependencyAlpine, alpineAll
		owners, versions = c.alpine(root, todo)
	}
	for name, owner := range owners {
		owned[name] = systemPackage{owner, versions[owner]}
	}
	return kind, source, owned
}

// debianOwners looks the files up in the lists of all packages. What was found in lists that are
// the same since is remembered, also that a file is in none.
func (c *collector) debianOwners(root *Root, info []string, todo map[string]unit) map[string]string {
	folder, err := root.below(debianInfo, unix.O_RDONLY)
	if err != nil {
		return nil
	}
	id := identityOf(folder)
	folder.Close()
	known := c.debian[id]
	if known == nil {
		known = map[string]string{}
		c.debian = map[identity]map[string]string{id: known}
	}
	wanted := map[string]string{} // as it may stand in a list → as it is
	for name := range todo {
		if _, there := known[name]; there {
			continue
		}
		known[name] = ""
		if bornAfter(root, name, id.changed) {
			continue
		}
		for _, other := range withoutUsr(name) {
			wanted[other] = name
		}
	}
	if len(wanted) > 0 {
		left := int64(maxLists)
		for _, list := range info {
			if owner, found := strings.CutSuffix(list, ".list"); found && left > 0 {
				text := c.allowed.read(root, debianInfo+"/"+list, min(maxList, left))
				left -= int64(len(text))
				for line := range strings.Lines(text) {
					if name, found := wanted[strings.TrimSuffix(line, "\n")]; found {
						known[name], _, _ = strings.Cut(owner, ":")
					}
				}
			}
		}
	}
	owners := map[string]string{}
	for name := range todo {
		if known[name] != "" {
			owners[name] = known[name]
		}
	}
	return owners
}

// installs is how long after the database of packages was changed last a file may be born that is a
// package's: images are unpacked file by file, and the database is one of them.
const installs = time.Hour

// bornAfter tells whether a file is younger than the database of packages: none of them brought it.
// A host that builds programs has new ones each minute, and reading all lists for each took more
// than all else that was read.
func bornAfter(root *Root, name string, database unix.Timespec) bool {
	file, err := root.below(name, unix.O_PATH)
	if err != nil {
		return false // whatever it is, the lists are asked
	}
	defer file.Close()
	var status unix.Statx_t
	err = unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &status)
	if err != nil || status.Mask&unix.STATX_BTIME == 0 { // not every file system knows it
		return false
	}
	born := time.Unix(status.Btime.Sec, int64(status.Btime.Nsec))
	return born.After(time.Unix(database.Unix()).Add(installs))
}

// debianVersions reads the versions of the packages that own something. Those in a database that is
// the same since are remembered.
func (c *collector) debianVersions(root *Root, owners map[string]string) map[string]string {
	file, err := root.below(debianStatus, unix.O_RDONLY)
	if err != nil {
		return nil
	}
	id := identityOf(file)
	file.Close()
	known := c.versions[id]
	if known == nil {
		known = map[string]string{}
		c.versions = map[identity]map[string]string{id: known}
	}
	wanted := map[string]bool{}
	for _, owner := range owners {
		if _, there := known[owner]; !there {
			wanted[owner] = true
		}
	}
	if len(wanted) > 0 {
		maps.Copy(known, c.stanzas(root, debianStatus, "Package: ", "Version: ", wanted, nil))
	}
	return known
}

// alpine reads the one database of apk: who owns the files, and the versions.
func (c *collector) alpine(root *Root, todo map[string]unit) (owners, versions map[string]string) {
	owners = map[string]string{}
	folder := ""
	versions = c.stanzas(root, alpineAll, "P:", "V:", nil, func(name, line string) {
		if below, found := strings.CutPrefix(line, "F:"); found {
			folder = "/" + below + "/"
		} else if base, found := strings.CutPrefix(line, "R:"); found {
			if _, there := todo[folder+base]; there {
				owners[folder+base] = name
			}
			if _, there := todo["/usr"+folder+base]; there {
				owners["/usr"+folder+base] = name
			}
		}
	})
	return owners, versions
}

// stanzas reads a database of stanzas: the version of each that is wanted (nil: of all), and gives
// each further line.
func (c *collector) stanzas(root *Root, name, nameMark, versionMark string, wanted map[string]bool,
	also func(name, line string)) map[string]string {
	versions := map[string]string{}
	file, err := c.allowed.open(root, name)
	if err != nil || c.allowed.take(maxLine) != nil {
		return versions
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxStatus))
	lines.Buffer(make([]byte, maxLine), maxLine)
	current := ""
	for lines.Scan() {
		line := lines.Text()
		if found, is := strings.CutPrefix(line, nameMark); is {
			current = found
		} else if version, is := strings.CutPrefix(line, versionMark); is && (wanted == nil || wanted[current]) {
			versions[current] = version
		} else if also != nil {
			also(current, line)
		}
	}
	return versions
}
