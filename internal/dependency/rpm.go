package dependency

import (
	"strings"

	"culprit/internal/dependency/rpm"
)

// maxRPM bounds the bytes of a database of RPM.
const maxRPM = 128 << 20

// systemPackage is a package of the system that owns a file.
type systemPackage struct{ name, version string }

// rpmOwners looks files up in the database of RPM; source is "" where there is none. What was found
// in a database that is the same since is remembered, also that it has no owner of a file.
func (c *collector) rpmOwners(root *Root, todo map[string]unit) (owned map[string]systemPackage, source string) {
	for _, folder := range rpm.Folders {
		for _, name := range rpm.Names {
			if source = folder + "/" + name; root.Has(source) {
				return c.readRPM(root, source, todo), source
			}
		}
	}
	return nil, ""
}

func (c *collector) readRPM(root *Root, source string, todo map[string]unit) map[string]systemPackage {
	file, err := c.allowed.open(root, source)
	if err != nil {
		return nil
	}
	defer file.Close()
	information, err := file.Stat()
	if err != nil {
		return nil
	}
	id := identityOf(file)
	known := c.rpm[id]
	if known == nil {
		known = map[string]systemPackage{}
		c.rpm = map[identity]map[string]systemPackage{id: known}
	}
	wanted := map[string]string{} // as it may stand in the database → as it is
	for name := range todo {
		if _, there := known[name]; there {
			continue
		}
		known[name] = systemPackage{}
		for _, other := range withoutUsr(name) {
			wanted[other] = name
		}
	}
	if len(wanted) == 0 {
		return known
	}
	if information.Size() > maxRPM || c.allowed.take(information.Size()) != nil {
		delete(c.rpm, id)
		c.allowed.refused++
		return nil
	}
	err = rpm.Read(file, information.Size(), func(found *rpm.Package) bool {
		for name := range found.Files() {
			if real, is := wanted[name]; is {
				known[real] = systemPackage{found.Name, found.Version}
			}
		}
		return c.allowed.take(0) == nil
	})
	if err != nil {
		c.allowed.damaged++
	}
	return known
}

// withoutUsr are the names that a package may have for a file: /lib became a link to /usr/lib.
func withoutUsr(name string) []string {
	if below, found := strings.CutPrefix(name, "/usr/"); found {
		return []string{name, "/" + below}
	}
	return []string{name, "/usr" + name}
}
