package knob

import (
	"fmt"
	"regexp"
	"strings"
)

const sysctlFolder = "/proc/sys/"

var sysctlName = regexp.MustCompile(`^[a-z0-9_-]+(\.[A-Za-z0-9_:@/-]+)+$`)

// findSysctl makes the knob of any setting of /proc/sys by its dotted name. As with
// sysctl(8), a dot inside a part of the name is written as a slash.
func findSysctl(name string, target Target) (Knob, bool, error) {
	folder, _, _ := strings.Cut(name, ".")
	if !sysctlName.MatchString(name) || !target.exists(sysctlFolder+folder) || strings.Contains(name, "..") {
		return Knob{}, false, nil
	}
	swap := strings.NewReplacer(".", "/", "/", ".")
	path := sysctlFolder + swap.Replace(name)
	if !target.exists(path) {
		return Knob{}, true, fmt.Errorf("%w: this host has no %s", ErrUnknown, path)
	}
	return fileKnob(name, target, path, About{Text: "the sysctl " + name, Numeric: true}), true, nil
}
