// Package service says which service each process of a window belongs to: its unit of systemd, its
// container or pod, else its executable; and which version of it runs.
//
//	namer := service.NewNamer("/")
//	namer.Look() // while the processes live
//	for _, one := range namer.Services(rec, labels) {
//		fmt.Println(one.Name, one.Version, one.CPUNs)
//	}
//
// Everything that it reads is of others: names are cut and cleaned, files are read with limits, and
// what does not fit is put together as "other".
package service

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/fleet/window"
	"culprit/recording"
)

// Other is what services beyond the limits are put together as.
const Other = "other"

// The limits of a window's list. They lie below those of a manifest.
const (
	maxServices  = 128
	maxPids      = 8 << 10
	maxKnown     = 64 << 10 // processes whose executable is remembered
	maxContainer = 4096     // containers whose name is remembered
)

// Namer knows executables of processes, and names of containers, from window to window.
type Namer struct {
	root       string
	executable map[int32]string
	containers map[string]container // by what the recording calls them: "docker 4fd2c1a90b17"
	versions   *versions
}

// NewNamer reads below a root, which is "/" but for tests.
func NewNamer(root string) *Namer {
	return &Namer{root: root, executable: map[int32]string{}, containers: map[string]container{},
		versions: newVersions(root)}
}

// Look notes the executables of processes that are new. It is cheap: one link is read for each.
func (n *Namer) Look() {
	folder, err := os.Open(filepath.Join(n.root, "proc"))
	if err != nil {
		return
	}
	defer folder.Close()
	names, err := folder.Readdirnames(maxKnown)
	if err != nil {
		return
	}
	there := make(map[int32]string, len(n.executable))
	for _, name := range names {
		pid, err := strconv.ParseInt(name, 10, 32)
		if err != nil {
			continue
		}
		path, known := n.executable[int32(pid)]
		if !known {
			path = n.link(int32(pid))
		}
		there[int32(pid)] = path
	}
	n.executable = there
}

// link is the file that a process runs; "" of a kernel thread, and of one that has ended.
func (n *Namer) link(pid int32) string {
	path, err := os.Readlink(filepath.Join(n.root, "proc", strconv.Itoa(int(pid)), "exe"))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)")
}

// one is a service while its processes are added up.
type one struct {
	window.Service
	file  string // executable of the process that used most CPU time
	most  int64
	first int32 // the oldest process that was there when the window began
	// contained: the file is one of a container, which this process does not see.
	contained bool
	group     string // what the recording calls its unit or container; "": neither
	account   account
}

// ownFile tells whether the version is to be read from the executable. What comes and goes within a
// window has none: a host that builds and tests has a hundred new ones each minute.
func (s *one) ownFile() bool {
	return s.Version == "" && !s.contained && s.first != 0 && s.Name != Other
}

// Services lists those that the processes of a recording belong to, the dearest first. Labels are
// what a file of labels says of services by name.
func (n *Namer) Services(rec *recording.Recording, labels map[string]map[string]string) []window.Service {
	found := map[string]*one{}
	of := map[int32]*one{}
	for i := range rec.Processes {
		of[rec.Processes[i].Pid] = n.add(found, &rec.Processes[i])
	}
	addThreads(of, rec)
	list := slices.SortedFunc(maps.Values(found), func(a, b *one) int {
		return cmp.Or(cmp.Compare(b.CPUNs, a.CPUNs), strings.Compare(a.Name, b.Name))
	})
	list = bound(list)
	for _, s := range list {
		s.Metrics = s.account.metrics()
	}
	var files []string
	for _, s := range list {
		if s.ownFile() {
			files = append(files, s.file)
		}
	}
	n.versions.learn(files)
	services := make([]window.Service, 0, len(list))
	for _, s := range list {
		if s.Name != Other {
			n.complete(s, labels[s.Name])
		}
		services = append(services, s.Service)
	}
	return services
}

// add books one process on its service.
func (n *Namer) add(found map[string]*one, process *recording.Process) *one {
	file := n.fileOf(process)
	name, from := n.nameOf(process, file)
	s := found[name]
	if s == nil {
		s = &one{Service: window.Service{Name: name, Labels: from.labels()}, most: -1, contained: from.name != ""}
		if isGroup(process.Container) {
			s.group = process.Container
		}
		s.Version, s.VersionFrom = from.version()
		found[name] = s
	}
	s.CPUNs += max(0, process.CPUNs)
	s.Pids = append(s.Pids, process.Pid)
	if process.CPUNs > s.most {
		s.file, s.most = file, process.CPUNs
	}
	if process.StartNs == 0 && process.EndNs == 0 && (s.first == 0 || process.Pid < s.first) {
		s.first = process.Pid
	}
	return s
}

// fileOf is the executable of a process: of its last exec in the window, else as it was seen
// before, else its name.
func (n *Namer) fileOf(process *recording.Process) string {
	if process.Command != "" {
		if len(n.executable) < maxKnown && process.EndNs == 0 {
			n.executable[process.Pid] = process.Command
		}
		return process.Command
	}
	if file := n.executable[process.Pid]; file != "" {
		return file
	}
	if process.EndNs == 0 {
		if file := n.link(process.Pid); file != "" {
			n.executable[process.Pid] = file
			return file
		}
	}
	if file := n.executable[process.Ppid]; file != "" && process.Execs == 0 && process.StartNs > 0 {
		return file // it was forked and never ran anything else
	}
	return process.Comm
}

// nameOf names the service of a process.
func (n *Namer) nameOf(process *recording.Process, file string) (string, container) {
	if group := process.Container; isGroup(group) {
		if unit, is := strings.CutSuffix(group, ".service"); is {
			return clean(unit), container{}
		}
		known := n.container(group)
		return known.name, known
	}
	name := clean(filepath.Base(file))
	if name == "" || name == "." || name == "/" {
		name = clean(process.Comm)
	}
	if name == "" {
		name = Other
	}
	return name, container{}
}

// isGroup tells whether what a recording says of a process's cgroup is a service: a unit of systemd
// or a container. Sessions are none, nor is the manager of a user.
func isGroup(group string) bool {
	unit, is := strings.CutSuffix(group, ".service")
	return group != "" && !strings.HasSuffix(group, ".scope") && !(is && isUsersManager(unit))
}

// isUsersManager tells the unit of a user's own manager, below which everything that they start may
// lie.
func isUsersManager(unit string) bool { return strings.HasPrefix(unit, "user@") }

// complete says of a service what takes a look at its files: its version, and when it was started.
func (n *Namer) complete(s *one, labels map[string]string) {
	for key, value := range labels {
		switch {
		case key == "version":
			s.Version, s.VersionFrom = value, "label"
		case s.Labels == nil:
			s.Labels = map[string]string{key: value}
		default:
			s.Labels[key] = value
		}
	}
	if s.Version == "" && !s.contained {
		s.Version, s.VersionFrom = n.versions.of(s.file) // where it is known: also of one that was started just now
	}
	if s.first != 0 {
		s.Process = strconv.Itoa(int(s.first))
		s.Started = startedAt(n.root, s.first)
		s.Cgroup = n.cgroupOf(s.first, s.group)
	}
}

// bound puts services beyond the limits together, those of least CPU time, and leaves out processes
// that do not fit.
func bound(list []*one) []*one {
	if len(list) > maxServices {
		rest := &one{Service: window.Service{Name: Other}}
		kept := make([]*one, 0, maxServices)
		for i, s := range list {
			if i < maxServices-1 && s.Name != Other {
				kept = append(kept, s)
				continue
			}
			rest.CPUNs += s.CPUNs
			rest.account.add(s.account)
			rest.Pids = append(rest.Pids, s.Pids...)
		}
		list = append(kept, rest)
	}
	left := maxPids
	for i, s := range list { // one without processes would stand for all of the recording: each keeps one
		s.Pids = s.Pids[:min(len(s.Pids), left-(len(list)-1-i))]
		left -= len(s.Pids)
	}
	return list
}

// clean makes a name that a manifest takes: what cannot be printed becomes "?".
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '@' { // it stands between a service and a time
			return '_'
		}
		if strconv.IsPrint(r) && r != '�' {
			return r
		}
		return '?'
	}, strings.TrimSpace(text))
	for len(text) > maxName {
		text = text[:len(text)-1]
	}
	return strings.ToValidUTF8(text, "")
}

const maxName = 128
