package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The paths that managers of containers and systemd make, by their documentation and as seen in the
// field.
func TestGroupNames(t *testing.T) {
	id := strings.Repeat("4fd2c1a90b17", 6)[:64]
	short := id[:12]
	const uid, dashed = "3d1c2a6e_77aa_4b0c_9d6f_0a1b2c3d4e5f", "3d1c2a6e-77aa-4b0c-9d6f-0a1b2c3d4e5f"
	for cgroup, want := range map[string]string{
		"/": "", "": "", "/web/api": "", "/user.slice": "", "/../../other": "",

		"/docker/" + id:                                   "docker " + short,
		"/system.slice/docker-" + id + ".scope":           "docker " + short,
		"/../../docker/" + id:                             "docker " + short,
		"/docker/" + id + "/system.slice/cron.service":    "docker " + short,
		"/docker/" + id + "/docker/" + "e" + id[1:]:       "docker e" + short[1:],
		"/system.slice/docker.service":                    "docker.service",
		"/actions_job/" + id:                              "container " + short,
		"/ecs/0123456789abcdef0123456789abcdef/" + id:     "container " + short,
		"/ecs/" + id[:32] + "/" + id[:32] + "-0527074092": "container " + short,

		"/kubepods/burstable/pod" + dashed + "/" + id: "pod " + dashed + " container " + short,
		"/kubepods/pod" + dashed + "/" + id:           "pod " + dashed + " container " + short,
		"/kubepods/besteffort/pod" + dashed:           "pod " + dashed,
		"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uid + ".slice/cri-containerd-" + id +
			".scope": "pod " + dashed + " containerd " + short,
		"/kubepods.slice/kubepods-pod" + uid + ".slice/crio-" + id + ".scope": "pod " + dashed + " cri-o " + short,
		"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + uid + ".slice/docker-" + id +
			".scope": "pod " + dashed + " docker " + short,
		"/system.slice/containerd.service/kubepods-besteffort-pod" + uid + ".slice:cri-containerd:" +
			id: "pod " + dashed + " containerd " + short,
		"/kubepods/pod0123456789abcdef0123456789abcdef/" + id: "pod 0123456789abcdef0123456789abcdef container " + short,

		"/machine.slice/libpod-" + id + ".scope":                                           "podman " + short,
		"/machine.slice/libpod-" + id + ".scope/container":                                 "podman " + short,
		"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope": "podman " + short,
		"/libpod_parent/libpod-" + id:                                                      "podman " + short,
		"/machine.slice/libpod-conmon-" + id + ".scope":                                    "libpod-conmon-" + id + ".scope",
		"/system.slice/nerdctl-" + id + ".scope":                                           "containerd " + short,
		"/default/" + id:                                                                   "container " + short,
		"/machine.slice/machine-web\\x2d1.scope/payload":                                   "nspawn web-1",
		"/machine.slice/systemd-nspawn@db.service/payload":                                 "nspawn db",
		"/lxc/web":                                    "lxc web",
		"/lxc.payload.web/init.scope":                 "lxc web",
		"/lxc.payload/web":                            "lxc web",
		"/lxc.monitor.web":                            "",
		"/lxc/" + id[:23]:                             "lxc " + id[:23],
		"/system.slice/nginx.service":                 "nginx.service",
		"/system.slice/nginx.service/child":           "nginx.service",
		"/system.slice/system-pg.slice/pg@15.service": "pg@15.service",
		"/user.slice/user-1000.slice/session-3.scope": "session-3.scope",
		"/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome\\x2dterm.service": "app-gnome-term.service",
		"/init.scope": "init.scope",
	} {
		if got := groupName(cgroup); got != want {
			t.Errorf("%s: %q, want %q", cgroup, got, want)
		}
	}
}

// A process is in several hierarchies; the container's own tells more than the session it was
// started from.
func TestGroupNameOfProcess(t *testing.T) {
	id := strings.Repeat("0a1b2c3d", 8)
	for content, want := range map[string]string{
		"12:pids:/user.slice/session-3.scope\n3:cpu:/docker/" + id + "\n0::/\n": "docker 0a1b2c3d0a1b",
		"2:cpu,cpuacct:/\n0::/system.slice/a.service\n":                         "a.service",
		"0::/\n": "", "broken\n": "",
		"0::/system.slice/\x1b[2J.service\n": "?[2J.service",
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "proc/7"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "proc/7/cgroup"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := GroupName(root, "7"); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
	if got := GroupName(t.TempDir(), "7"); got != "" {
		t.Errorf("a process that is gone: %q", got)
	}
}
