package record

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"culprit/internal/dependency"
	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// What the target ran on is found out when a window has ended: the files that its processes opened
// in it, as the probe of system calls told, and those that were mapped or open before. Only the
// roots of the processes must be held while they live.

const (
	maxHeld     = 64      // roots that are held at a time
	maxMaps     = 8 << 20 // bytes of /proc/PID/maps
	maxMapped   = 4096    // files of one process
	maxOpenFile = 1024    // descriptors of one process
)

// usage holds what is known of the files of a target while its processes live.
type usage struct {
	mu    sync.Mutex
	roots map[uint32]*dependency.Root // by number of the mount namespace
	files map[dependency.File]bool
	held  map[string]*os.File // files that were replaced, by what /proc says of them
	// above is the folder of a root within its mount namespace, of one that was changed (chroot).
	above map[*dependency.Root]string
}

func newUsage() *usage {
	return &usage{roots: map[uint32]*dependency.Root{}, files: map[dependency.File]bool{}, held: map[string]*os.File{},
		above: map[*dependency.Root]string{}}
}

// hold opens the roots of processes whose mount namespaces are new.
func (u *usage) hold(pids []int) {
	for _, pid := range pids {
		u.rootOf(pid)
	}
}

// rootOf gives the root of a process; nil when it has ended, and for roots beyond the limit.
func (u *usage) rootOf(pid int) *dependency.Root {
	mounts := mountsOf(pid)
	if mounts == 0 {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if known := u.roots[mounts]; known != nil || len(u.roots) >= maxHeld {
		return known
	}
	name := "/proc/" + strconv.Itoa(pid) + "/root"
	if mounts == mountsOf(os.Getpid()) {
		name = "/"
	}
	root, err := dependency.OpenRoot(name)
	if err != nil {
		return nil
	}
	u.roots[mounts] = root
	if folder, err := os.Readlink(name); err == nil && name != "/" && folder != "/" {
		u.above[root] = folder
	}
	return root
}

// within is a path as the processes of a root see it, of one within the mount namespace.
func (u *usage) within(root *dependency.Root, name string) string {
	if above := u.above[root]; above != "" && !root.Has(name) {
		if below, found := strings.CutPrefix(name, above); found {
			return below
		}
	}
	return name
}

// mountsOf is the number of the mount namespace of a process, 0 when it has ended.
func mountsOf(pid int) uint32 {
	link, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/mnt")
	if err != nil {
		return 0
	}
	var number uint32
	if _, err := fmt.Sscanf(link, "mnt:[%d]", &number); err != nil {
		return 0
	}
	return number
}

// look notes the files that processes have mapped to run, and archives and scripts that they have
// open.
func (u *usage) look(pids []int) {
	for _, pid := range pids {
		root := u.rootOf(pid)
		if root == nil {
			continue
		}
		folder := "/proc/" + strconv.Itoa(pid)
		mapped := mappedOf(folder)
		opened := openedOf(folder)
		u.mu.Lock()
		for _, one := range mapped {
			file := dependency.File{Path: u.within(root, one.path), Root: root,
				How: recording.SeenMapped, Held: u.replacedFile(one)}
			if one.by == "" || file.Held != nil {
				u.files[file] = true
			}
		}
		for _, name := range opened {
			u.files[dependency.File{Path: name, Root: root, How: recording.SeenOpened}] = true
		}
		u.mu.Unlock()
	}
}

// mappedFile is a file of which a process has mapped code.
type mappedFile struct {
	path  string
	by    string // a path below /proc that leads to it, where no other does any more
	inode string
}

// replacedFile gives a file that another one took the place of, open; nil for all others, and
// beyond the limit.
func (u *usage) replacedFile(one mappedFile) *os.File {
	if one.by == "" || u.held[one.inode] != nil || len(u.held) >= maxHeld {
		return u.held[one.inode]
	}
	file, err := os.OpenFile(one.by, os.O_RDONLY|unix.O_NONBLOCK, 0) // it needs CAP_CHECKPOINT_RESTORE
	if err != nil {
		return nil
	}
	u.held[one.inode] = file
	return file
}

// mappedOf lists the files that a process runs code of, and mapped archives.
func mappedOf(folder string) (files []mappedFile) {
	file, err := os.Open(folder + "/maps")
	if err != nil {
		return nil
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxMaps))
	before := ""
	for lines.Scan() && len(files) < maxMapped {
		words := strings.SplitN(lines.Text(), " ", 6)
		if len(words) < 6 || len(words[1]) != 4 {
			continue
		}
		name := strings.TrimLeft(words[5], " ")
		if name == before || !strings.HasPrefix(name, "/") ||
			words[1][2] != 'x' && !strings.HasSuffix(name, ".jar") {
			continue
		}
		before = name
		one := mappedFile{path: name, inode: words[3] + " " + words[4]}
		if path, deleted := strings.CutSuffix(name, " (deleted)"); deleted {
			if strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/dev/") {
				continue
			}
			one.path, one.by = path, folder+"/map_files/"+words[0]
		}
		files = append(files, one)
	}
	return files
}

// openedOf lists archives that a process has open.
func openedOf(folder string) (names []string) {
	list, err := os.Open(folder + "/fd")
	if err != nil {
		return nil
	}
	defer list.Close()
	descriptors, err := list.Readdirnames(maxOpenFile)
	if err != nil {
		return nil
	}
	for _, descriptor := range descriptors {
		name, err := os.Readlink(folder + "/fd/" + descriptor)
		if err == nil && (strings.HasSuffix(name, ".jar") || strings.HasSuffix(name, ".war")) {
			names = append(names, name)
		}
	}
	return names
}

// seen puts together what is known of the target.
func (u *usage) seen(opened []bpf.OpenedFile, rec *recording.Recording, light bool) dependency.Seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	seen := dependency.Seen{Frames: rec.Frames}
	own := mountsOf(os.Getpid())
	for _, one := range opened {
		if u.roots[one.Mounts] == nil && one.Mounts == own {
			if root, err := dependency.OpenRoot("/"); err == nil {
				u.roots[own] = root
			}
		}
		if root := u.roots[one.Mounts]; root != nil {
			seen.Files = append(seen.Files, dependency.File{Path: u.within(root, one.Path), Root: root,
				How: recording.SeenOpened})
		}
	}
	for file := range u.files {
		seen.Files = append(seen.Files, file)
	}
	commands := commandsOf(rec, light)
	for _, root := range u.roots {
		seen.Roots = append(seen.Roots, root)
		for _, command := range commands { // the kernel opens what exec was asked for
			if name := root.Real(command); name != "" {
				seen.Files = append(seen.Files, dependency.File{Path: name, Root: root, How: recording.SeenMapped})
			}
		}
	}
	return seen
}

// commandsOf lists the programs of a recording, each once. Of light windows those are left out
// whose processes came and went without a stack: a host that starts hundreds a second makes
// thousands of programs that nothing is told of.
func commandsOf(rec *recording.Recording, light bool) (commands []string) {
	stacks := withStacks(rec)
	known := map[string]bool{"": true}
	for i := range rec.Processes {
		process := &rec.Processes[i]
		if known[process.Command] || light && cameAndWent(process) && !stacks[process.Pid] {
			continue
		}
		known[process.Command] = true
		commands = append(commands, process.Command)
	}
	return commands
}

// cameAndWent tells whether a process began and ended within its window.
func cameAndWent(process *recording.Process) bool { return process.StartNs > 0 && process.EndNs > 0 }

func (u *usage) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, root := range u.roots {
		root.Close()
	}
	for _, file := range u.held {
		_ = file.Close()
	}
	u.roots, u.files, u.held = map[uint32]*dependency.Root{}, map[dependency.File]bool{}, map[string]*os.File{}
}

// code notes the files that stacks of the window ran through, whose processes may have ended.
func (u *usage) code(mapped []unwind.Mapped) {
	for _, one := range mapped {
		if root := u.rootOf(one.Pid); root != nil {
			u.files[dependency.File{Path: one.Path, Root: root, How: recording.SeenMapped}] = true
		}
	}
}

// depend fills the table of dependencies. One that could not be read in time is a loss, never an
// error.
func (s *Session) depend(window *bpf.Window, open *openWindow) {
	if open.watch == nil {
		return
	}
	used := open.watch.used
	defer used.close()
	if s.unwinder != nil {
		used.code(s.unwinder.Mapped())
	}
	rows, losses := s.dependencies.Read(used.seen(window.Opened, window.Recording, s.options.Light))
	window.Recording.Dependencies = rows
	for _, loss := range losses {
		window.Lose(loss.What, loss.Count)
	}
}
