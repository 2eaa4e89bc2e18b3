package dependency

import (
	"encoding/json"
	"path"
	"strings"

	"culprit/recording"
)

const maxInstalled = 16 << 20 // bytes of an installed.json

// vendor is a folder that composer installed into.
type vendor struct {
	versions map[string]string // by folder of the package, as the target sees it
	names    map[string]string
}

// installed is the composer's own account: a list before its second version.
type installed struct {
	Packages []installedPackage `json:"packages"`
}

type installedPackage struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Path      string `json:"install-path"` // from vendor/composer
	Reference struct {
		Commit string `json:"reference"`
	} `json:"source"`
}

// composer claims the files of PHP packages, by the vendor/composer/installed.json above them.
func (c *collector) composer(root *Root, todo map[string]unit) {
	for name, one := range todo {
		if scriptOf(name) != "php" {
			continue
		}
		before, after, found := strings.Cut(name, "/vendor/")
		for found {
			folder := before + "/vendor"
			if words := strings.SplitN(after, "/", 3); len(words) == 3 {
				if c.composed(place{root, folder}, folder+"/"+words[0]+"/"+words[1], one) || words[0] == "composer" {
					delete(todo, name)
					break
				}
			}
			var more string
			more, after, found = strings.Cut(after, "/vendor/")
			before = folder + "/" + more
		}
	}
}

// composed tells the package of a folder, where composer knows it.
func (c *collector) composed(at place, folder string, one unit) bool {
	known, there := c.vendors[at]
	if !there {
		known = c.installed(at)
		c.vendors[at] = known
	}
	if known == nil || known.names[folder] == "" {
		return false
	}
	c.add(recording.Dependency{Kind: recording.DependencyPHP, Name: known.names[folder],
		Version: known.versions[folder], Place: folder, Evidence: one.how,
		Source: at.path + "/composer/installed.json"})
	return true
}

func (c *collector) installed(at place) *vendor {
	text := c.allowed.read(at.root, at.path+"/composer/installed.json", maxInstalled)
	if text == "" {
		return nil
	}
	var list installed
	if json.Unmarshal([]byte(text), &list) != nil && json.Unmarshal([]byte(text), &list.Packages) != nil {
		c.allowed.damaged++
		return nil
	}
	found := &vendor{versions: map[string]string{}, names: map[string]string{}}
	for _, one := range list.Packages {
		folder := at.path + "/" + one.Name
		if one.Path != "" {
			folder = path.Join(at.path, "composer", one.Path)
		}
		version := one.Version
		if strings.HasPrefix(version, "dev-") && one.Reference.Commit != "" {
			version += " (" + one.Reference.Commit[:min(len(one.Reference.Commit), 12)] + ")"
		}
		found.names[folder], found.versions[folder] = one.Name, version
	}
	return found
}
