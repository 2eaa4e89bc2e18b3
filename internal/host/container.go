package host

import (
	"path"
	"regexp"
	"strings"
)

// shortID is how many characters of a container's id are shown, as its own tools do.
const shortID = 12

// containerShapes are the names that managers of containers give to a container's cgroup. The first
// group of the expression is the id or the name.
var containerShapes = []struct {
	manager string
	shape   *regexp.Regexp // of one directory
	parent  *regexp.Regexp // of the one above; nil: any
}{
	// The systemd driver makes a scope.
	{"docker", regexp.MustCompile(`^docker-([0-9a-f]{64})\.scope$`), nil},
	{"podman", regexp.MustCompile(`^libpod-([0-9a-f]{64})(?:\.scope)?$`), nil},
	{"containerd", regexp.MustCompile(`^(?:cri-containerd|nerdctl)-([0-9a-f]{64})\.scope$`), nil},
	{"cri-o", regexp.MustCompile(`^crio-([0-9a-f]{64})(?:\.scope)?$`), nil},
	{"nspawn", regexp.MustCompile(`^machine-([^/]+)\.scope$`), nil},
	{"nspawn", regexp.MustCompile(`^systemd-nspawn@([^/]+)\.service$`), nil},
	{"lxc", regexp.MustCompile(`^lxc\.payload\.([^/]+)$`), nil},
	// The cgroupfs driver makes plain directories.
	{"docker", regexp.MustCompile(`^([0-9a-f]{64})$`), regexp.MustCompile(`^docker$`)},
	{"lxc", regexp.MustCompile(`^([^/]+)$`), regexp.MustCompile(`^lxc(?:\.payload)?$`)},
	// ":cri-containerd:ID" is how containerd writes a path that its systemd driver should have had.
	{"containerd", regexp.MustCompile(`^[^:]*:cri-containerd:([0-9a-f]{64})$`), nil},
	{"container", regexp.MustCompile(`^([0-9a-f]{64})$`), nil},
	{"container", regexp.MustCompile(`^([0-9a-f]{32}-[0-9]+)$`), nil}, // Amazon's Fargate
}

// podShape is the cgroup of a pod of Kubernetes, with either driver: dashes of its id are
// underscores with systemd.
var podShape = regexp.MustCompile(
	`^(?:.*-)?pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice.*)?$`)

// groupName says what a cgroup is by its path: a container ("docker 4fd2c1a90b17"; with "pod …"
// before it in Kubernetes), the unit of systemd ("nginx.service"), or "" for neither. Of nested
// containers it is the inner one.
func groupName(cgroup string) string {
	segments := strings.Split(strings.Trim(path.Clean("/"+cgroup), "/"), "/")
	for i := len(segments) - 1; i >= 0; i-- {
		above := ""
		if i > 0 {
			above = segments[i-1]
		}
		if name := containerName(segments[i], above); name != "" {
			if pod := podOf(segments[:i+1]); pod != "" {
				return pod + " " + name
			}
			return name
		}
	}
	if pod := podOf(segments); pod != "" {
		return pod
	}
	return unitName(segments)
}

func containerName(segment, above string) string {
	for _, known := range containerShapes {
		found := known.shape.FindStringSubmatch(segment)
		if found == nil || known.parent != nil && !known.parent.MatchString(above) {
			continue
		}
		name := unescapeUnit(found[1])
		if len(name) >= 2*shortID && strings.Trim(name, "0123456789abcdef-") == "" {
			name = name[:shortID]
		}
		return known.manager + " " + name
	}
	return ""
}

// podOf finds the innermost pod, "pod 3d1c2a6e-…".
func podOf(segments []string) string {
	for i := len(segments) - 1; i >= 0; i-- {
		if found := podShape.FindStringSubmatch(segments[i]); found != nil {
			return "pod " + strings.ReplaceAll(found[1], "_", "-")
		}
	}
	return ""
}

// unitName is the innermost service or scope.
func unitName(segments []string) string {
	for i := len(segments) - 1; i >= 0; i-- {
		if strings.HasSuffix(segments[i], ".service") || strings.HasSuffix(segments[i], ".scope") {
			return unescapeUnit(segments[i])
		}
	}
	return ""
}

// unescapeUnit undoes what systemd does to a dash in a name; other escapes stay (systemd.unit(5)).
func unescapeUnit(name string) string { return strings.ReplaceAll(name, `\x2d`, "-") }

// GroupName says in which container or unit of systemd a process is, by its cgroups; "" when in
// none, or gone.
func GroupName(root, pid string) string {
	text, _ := tree{root}.read("/proc/"+pid+"/cgroup", fileLimit)
	name := ""
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		found := clean(groupName(parts[2]), valueLimit)
		if found != "" && !isUnit(found) {
			return found // a hierarchy that the container has part in
		}
		if name == "" {
			name = found
		}
	}
	return name
}

func isUnit(name string) bool {
	return strings.HasSuffix(name, ".service") || strings.HasSuffix(name, ".scope")
}
