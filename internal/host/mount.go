package host

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// mountEntry is one line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
type mountEntry struct {
	device       string // "254:0"
	root         string // the part of the file system that is mounted
	point        string
	options      string
	kind         string // file-system type
	origin       string // "/dev/vda", "tmpfs"
	superOptions string
}

const mountinfoLimit = 4 << 20

// mountTable reads the mounts that we see; lines that are not understood are left out.
func mountTable(files tree) []mountEntry { return mountTableOf(files, "/proc/self/mountinfo") }

func mountTableOf(files tree, source string) []mountEntry {
	text, _ := files.read(source, mountinfoLimit)
	var mounts []mountEntry
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, " - ")
		own, of := strings.Fields(before), strings.Fields(after)
		if !found || len(own) < 6 || len(of) < 2 {
			continue
		}
		mount := mountEntry{device: own[2], root: unescape(own[3]), point: unescape(own[4]), options: own[5],
			kind: of[0], origin: unescape(of[1])}
		if len(of) > 2 {
			mount.superOptions = of[2]
		}
		mounts = append(mounts, mount)
	}
	return mounts
}

// unescape undoes the octal escapes (\040 for a space) of mountinfo.
func unescape(text string) string {
	var result strings.Builder
	for len(text) > 0 {
		if text[0] == '\\' && len(text) >= 4 {
			if code, err := strconv.ParseUint(text[1:4], 8, 8); err == nil {
				result.WriteByte(byte(code))
				text = text[4:]
				continue
			}
		}
		result.WriteByte(text[0])
		text = text[1:]
	}
	return result.String()
}

// mountOf returns the mount that a path lies on: the longest mount point above
// it, and of several at the same place the last, which hides the others.
func mountOf(mounts []mountEntry, file string) (mountEntry, bool) {
	best, found := mountEntry{}, false
	for _, mount := range mounts {
		above := mount.point == "/" || mount.point == file || strings.HasPrefix(file, mount.point+"/")
		if above && (!found || len(mount.point) >= len(best.point)) {
			best, found = mount, true
		}
	}
	return best, found
}

// mounts keeps what / and the current folder lie on, down to the block device's queue.
func (collect *collector) mounts() {
	mounts := mountTable(collect.files)
	devices := map[string]bool{}
	for name, folder := range map[string]string{"root": "/", "cwd": collect.files.link("/proc/self/cwd")} {
		mount, found := mountOf(mounts, folder)
		if folder == "" || !found {
			continue
		}
		collect.mount("mount."+name, mount)
		if device := blockDevice(collect.files, mount); device != "" {
			collect.add("mount."+name+".block", path.Base(device), device)
			devices[device] = true
		}
	}
	for device := range devices {
		collect.queue(device)
	}
}

func (collect *collector) mount(name string, mount mountEntry) {
	source := "/proc/self/mountinfo"
	if strings.HasPrefix(name, "target.") {
		source = "/proc/PID/mountinfo"
	}
	collect.add(name+".point", mount.point, source)
	collect.add(name+".type", mount.kind, source)
	collect.add(name+".device", mount.origin, source)
	collect.add(name+".options", mount.options, source)
	collect.add(name+".super_options", redact(mount.superOptions), source)
	if mount.kind != "ext4" && mount.kind != "ext3" {
		return
	}
	collect.superblock(name, mount)
	device := deviceName(collect.files, mount)
	task := "/sys/fs/ext4/" + device + "/journal_task"
	switch collect.files.line(task) {
	case "":
	case "<none>":
		collect.add(name+".journal", "none", task)
		return
	default:
		collect.add(name+".journal", "jbd2", task)
	}
	text, _ := collect.files.read("/proc/fs/ext4/"+device+"/options", fileLimit)
	for option := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(option), "=")
		if key == "data" || key == "commit" || strings.HasSuffix(key, "barrier") {
			if value == "" {
				value = "on"
			}
			collect.add(name+".journal_"+clean(key, 16), value, "/proc/fs/ext4/"+device+"/options")
		}
	}
}

// blockDevice returns the folder in /sys of the whole device (not the partition)
// that a mount lies on, "" when it lies on none.
func blockDevice(files tree, mount mountEntry) string {
	device := "/sys/dev/block/" + path.Base(mount.device)
	if strings.HasPrefix(mount.device, "0:") { // btrfs and others have a number of their own
		device = "/sys/class/block/" + deviceName(files, mount)
	}
	resolved, err := filepath.EvalSymlinks(files.path(device))
	if err != nil || !strings.HasPrefix(mount.origin, "/dev/") && strings.HasPrefix(mount.device, "0:") {
		return ""
	}
	base, err := filepath.EvalSymlinks(files.root)
	if err != nil {
		return ""
	}
	below, err := filepath.Rel(base, resolved)
	if err != nil || strings.HasPrefix(below, "..") {
		return ""
	}
	below = "/" + below
	if files.exists(below + "/partition") {
		below = path.Dir(below)
	}
	return below
}

// deviceName returns the kernel's name of a mount's device: /dev/mapper/x is a link to dm-0.
func deviceName(files tree, mount mountEntry) string {
	if target := files.link(mount.origin); target != "" {
		return path.Base(target)
	}
	return path.Base(mount.origin)
}

// queueFiles are the settings of a block device's queue that change its speed.
var queueFiles = []string{"scheduler", "nr_requests", "read_ahead_kb", "rotational", "rq_affinity", "nomerges",
	"wbt_lat_usec", "write_cache", "io_poll", "iostats", "max_sectors_kb", "stable_writes", "fua",
	"logical_block_size", "physical_block_size"}

func (collect *collector) queue(device string) {
	name := "block." + clean(path.Base(device), 64) + "."
	for _, file := range queueFiles {
		collect.choice(name+file, device+"/queue/"+file)
	}
	for _, file := range []string{"min_ratio", "max_ratio", "stable_pages_required", "strict_limit"} {
		collect.file(name+"bdi."+file, device+"/bdi/"+file)
	}
}
