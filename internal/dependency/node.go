package dependency

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"culprit/recording"
)

const maxPackageJSON = 1 << 20

// nodePackage is what a package.json says.
type nodePackage struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

const nodeModules = "/node_modules/"

// zipped is a package in a cache of Yarn:
// ".yarn/cache/lodash-npm-4.17.21-6382451519-….zip/node_modules/lodash/…".
var zipped = regexp.MustCompile(`^(.*/([^/]+)-npm-(\d[^/]*?)-[0-9a-f]{8,}[^/]*\.zip)(/node_modules/(?:@[^/]+/)?[^/]+)?`)

// node claims the scripts of packages, each by the package.json that npm put beside it.
func (c *collector) node(root *Root, todo map[string]unit) {
	for name, one := range todo {
		if scriptOf(name) != "node" && path.Ext(name) != ".node" && path.Ext(name) != ".wasm" &&
			!strings.Contains(name, ".zip/") && path.Ext(name) != ".zip" {
			continue
		}
		if match := zipped.FindStringSubmatch(name); match != nil {
			c.add(recording.Dependency{Kind: recording.DependencyNode, Name: match[2], Version: match[3],
				Place: match[1] + match[4], Evidence: one.how, Source: match[1]})
			delete(todo, name)
			continue
		}
		folder, found := c.nodeFolder(root, name)
		if found == nil {
			continue
		}
		row := recording.Dependency{Kind: recording.DependencyNode, Name: found.Name, Version: found.Version,
			Place: folder, Evidence: one.how, Source: folder + "/package.json"}
		c.add(row)
		if one.binary != nil {
			row.Place, row.Hash = name, one.binary.buildID
			c.add(row)
			c.linked(name, one.binary, one.how)
		}
		if strings.Contains(folder, nodeModules) {
			delete(todo, name) // else it is the program's own, which changes without a new version
		}
	}
}

// nodeFolder finds the package that a script belongs to: below node_modules the one that npm put
// there, else that of the nearest package.json with a name. (Packages have further ones, which say
// how their scripts are written.)
func (c *collector) nodeFolder(root *Root, name string) (string, *nodePackage) {
	if before, after, found := cutLast(name, nodeModules); found {
		words := strings.SplitN(after, "/", 3)
		count := 1
		if strings.HasPrefix(after, "@") {
			count = 2
		}
		if len(words) <= count {
			return "", nil
		}
		folder := before + nodeModules + strings.Join(words[:count], "/")
		read := c.nodePackage(place{root, folder})
		if read == nil {
			return "", nil
		}
		if read.Name == "" {
			read.Name = strings.Join(words[:count], "/")
		}
		return folder, read
	}
	folder := path.Dir(name)
	for range mostAbove {
		if folder == "/" {
			break
		}
		if found := c.nodePackage(place{root, folder}); found != nil && found.Name != "" {
			return folder, found
		}
		folder = path.Dir(folder)
	}
	return "", nil
}

func (c *collector) nodePackage(at place) *nodePackage {
	if known, there := c.nodes[at]; there {
		return known
	}
	var found *nodePackage
	if text := c.allowed.read(at.root, at.path+"/package.json", maxPackageJSON); text != "" {
		found = &nodePackage{}
		if json.Unmarshal([]byte(text), found) != nil {
			c.allowed.damaged++
			found = nil
		}
	}
	c.nodes[at] = found
	return found
}
