package service

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/internal/fleet/window"
	"culprit/recording"
)

const (
	docker = "4fd2c1a90b17e4fd2c1a90b17e4fd2c1a90b17e4fd2c1a90b17e4fd2c1a90b17"
	pod    = "3d1c2a6e-0b1a-4c2d-8e9f-001122334455"
)

// host makes a root with what managers of containers and the kernel keep.
func host(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"proc/stat":          "cpu 1 2 3\nbtime 1700000000\n",
		"proc/10/stat":       "10 (we b) ) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 12300 0 0",
		"proc/10/cgroup":     "0::/user.slice/user-0.slice/session-3.scope\n",
		"proc/20/cgroup":     "1:name=systemd:/x\n0::/system.slice/nginx.service/workers\n",
		"proc/30/cgroup":     "0::/system.slice/docker-" + docker + ".scope/init.scope\n",
		"proc/31/cgroup":     "0::/../kubepods\n",
		"etc/os-release":     "ID=debian\n",
		"usr/sbin/shop":      "\x7fELF no",
		"var/lib/dpkg/empty": "",
		"var/lib/docker/containers/" + docker + "/config.v2.json": `{"Name":"/cart","Config":{"Image":"shop/cart:2.1.0",` +
			`"Labels":{"x":"y"}}}`,
		"var/log/pods/shop_web-7f9c6d5b8-x2v5k_" + pod + "/web/0.log": "",
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link(t, root, 10, "/usr/sbin/shop")
	link(t, root, 11, "/usr/bin/gone (deleted)")
	return root
}

func link(t *testing.T, root string, pid int, file string) {
	t.Helper()
	folder := filepath.Join(root, "proc", fmt.Sprint(pid))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, filepath.Join(folder, "exe")); err != nil {
		t.Fatal(err)
	}
}

func TestServicesOfProcesses(t *testing.T) {
	namer := NewNamer(host(t))
	namer.Look()
	rec := &recording.Recording{Processes: []recording.Process{
		{Pid: 10, Comm: "shop-worker", CPUNs: 5e9},
		{Pid: 11, Comm: "gone", CPUNs: 1e9},
		{Pid: 12, Ppid: 10, Comm: "shop", StartNs: 1e9, EndNs: 2e9, CPUNs: 1e8}, // forked, never ran another
		{Pid: 13, Ppid: 10, Comm: "ls", Command: "/bin/ls", Execs: 1, StartNs: 1e9, EndNs: 2e9, CPUNs: 1e7},
		{Pid: 20, Comm: "nginx", Container: "nginx.service", CPUNs: 4e9},
		{Pid: 21, Comm: "nginx", Container: "nginx.service", CPUNs: 1},
		{Pid: 22, Comm: "bash", Container: "session-3.scope", Command: "/bin/bash"},
		{Pid: 23, Comm: "pipewire", Container: "user@1000.service", Command: "/usr/bin/pipewire"},
		{Pid: 30, Comm: "java", Container: "docker " + docker[:12], CPUNs: 3e9},
		{Pid: 31, Comm: "web", Container: "pod " + pod + " containerd 0a1b2c3d4e5f", CPUNs: 2e9},
		{Pid: 32, Comm: "x", Container: "docker ffffffffffff"},
		{Pid: 33, Comm: "bad\x1b[31m@name"},
	}, Threads: []recording.Thread{{Pid: 20, Tid: 20, CPUNs: 4e9, RunqueueNs: 1e9, Voluntary: 7},
		{Pid: 21, Tid: 24, CPUNs: 1, StartNs: 2e9, EndNs: 3e9, Involuntary: 3, Migrations: 2}, {Pid: 99, Tid: 99}}}
	rec.Manifest.WindowNs = 60e9
	got := map[string]window.Service{}
	var order []string
	for _, s := range namer.Services(rec, map[string]map[string]string{"nginx": {"version": "9", "team": "edge"}}) {
		got[s.Name] = s
		order = append(order, s.Name)
	}
	want := []string{"shop", "nginx", "cart", "web", "gone", "ls"}
	if !slices.Equal(order[:len(want)], want) {
		t.Fatalf("services %v, want %v first", order, want)
	}
	for _, name := range []string{"bash", "pipewire", "docker ffffffffffff", "bad?[31m_name"} {
		if _, there := got[name]; !there {
			t.Errorf("no service %q in %q", name, order)
		}
	}
	if s := got["shop"]; s.CPUNs != 51e8 || !slices.Equal(s.Pids, []int32{10, 12}) || s.Process != "10" ||
		s.Started.Unix() != 1700000123 {
		t.Errorf("shop %+v", s)
	}
	for name, want := range map[string]string{"nginx": "/system.slice/nginx.service", "shop": "", "web": "",
		"cart": "/system.slice/docker-" + docker + ".scope"} {
		if got[name].Cgroup != want {
			t.Errorf("cgroup of %s %q, want %q", name, got[name].Cgroup, want)
		}
	}
	if s := got["nginx"]; s.Version != "9" || s.VersionFrom != "label" || s.Labels["team"] != "edge" {
		t.Errorf("nginx %+v", s)
	}
	if m := got["nginx"].Metrics; m[MetricRunqueue] != 1e9 || m[MetricBlocked] != 55e9+1e9-1 || m[MetricThreads] != 2 ||
		m[MetricVoluntary] != 7 || m[MetricInvoluntary] != 3 || m[MetricMigrations] != 2 {
		t.Errorf("metrics of nginx %v", m)
	}
	if s := got["cart"]; s.Version != "2.1.0" || s.VersionFrom != "image" || s.Labels["image"] != "shop/cart:2.1.0" {
		t.Errorf("cart %+v", s)
	}
	if s := got["web"]; s.Labels["namespace"] != "shop" || s.Labels["pod"] != "web-7f9c6d5b8-x2v5k" {
		t.Errorf("web %+v", s)
	}
	manifest := &window.Window{Services: namer.Services(rec, nil)}
	for _, s := range manifest.Services {
		if strings.ContainsAny(s.Name, "\x1b@") {
			t.Errorf("name %q", s.Name)
		}
	}
}

// A path that a manifest does not take is left out: it would cost the whole window.
func TestCgroupsThatAreNone(t *testing.T) {
	for path, want := range map[string]string{"/a.service": "/a.service", "/a.service/b/c": "/a.service", "/b": "/b",
		"": "", "a.service": "", "/a\x1b[1m.service": "", "/a\xff.service": "", "/../a.service": "",
		"/" + strings.Repeat("x", window.MaxPath): "", "/up/a.service/a.service": "/up/a.service",
		"/extra.service/a.service/x": "/extra.service/a.service"} {
		if got := wholeOf(path, "a.service"); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// Workloads are what the names of their pods have in common.
func TestWorkloadsOfPods(t *testing.T) {
	for pod, want := range map[string]string{"web-7f9c6d5b8-x2v5k": "web", "db-0": "db",
		"node-exporter-9xk2p": "node-exporter", "shop-api-66b8d4c9f4-abcde": "shop-api-66b8d4c9f4-abcde",
		"etcd-master": "etcd-master", "a-b-12": "a-b"} {
		if got := podEnd.ReplaceAllString(pod, ""); got != want {
			t.Errorf("%s is of %s, want %s", pod, got, want)
		}
	}
}

// A host on which everything is new all the time has a list as long as others.
func TestListsAreBounded(t *testing.T) {
	namer := NewNamer(t.TempDir())
	rec := &recording.Recording{}
	for pid := range int32(30000) {
		rec.Processes = append(rec.Processes, recording.Process{Pid: pid + 1, Comm: fmt.Sprint("test", pid%3000),
			CPUNs: int64(pid % 3000), Command: fmt.Sprintf("/tmp/test%d", pid%3000), EndNs: 1, StartNs: 1})
	}
	services := namer.Services(rec, nil)
	total, pids := int64(0), 0
	for _, s := range services {
		total += s.CPUNs
		pids += len(s.Pids)
	}
	if len(services) > maxServices || pids > maxPids || !slices.ContainsFunc(services,
		func(s window.Service) bool { return s.Name == Other }) {
		t.Errorf("%d services with %d processes", len(services), pids)
	}
	if want := int64(2999 * 3000 / 2 * 10); total != want {
		t.Errorf("CPU time %d, want %d: some was lost", total, want)
	}
}

func TestVersionsOfExecutables(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	versions := newVersions("/")
	versions.learn([]string{own, "/bin/sh", "/no/such/file", "relative"})
	if text, from := versions.of(own); text == "" || from == "package" {
		t.Errorf("this test is version %q from %s", text, from)
	}
	if _, err := os.Stat("/var/lib/dpkg/status"); err == nil {
		shell, _ := filepath.EvalSymlinks("/bin/sh")
		versions.learn([]string{shell})
		if text, from := versions.of(shell); text == "" || from != "package" {
			t.Errorf("%s is version %q from %s", shell, text, from)
		}
	}
	if text, _ := versions.of("/no/such/file"); text != "" {
		t.Errorf("a file that is not there has version %q", text)
	}
}
