package dependency

import (
	"path"
	"strings"

	"culprit/recording"
)

// exploded claims the classes of an artifact that was unpacked: those below a folder with its
// pom.properties.
func (c *collector) exploded(root *Root, todo map[string]unit) {
	folders := map[string][]artifact{}
	for name, one := range todo {
		if path.Ext(name) != ".class" {
			continue
		}
		folder := path.Dir(name)
		for range mostAbove {
			list, known := folders[folder]
			if !known {
				list = c.unpacked(root, folder)
				folders[folder] = list
			}
			if len(list) == 1 { // of several it is not known which
				below := strings.TrimPrefix(path.Dir(name), folder)
				c.add(recording.Dependency{Kind: recording.DependencyJava, Name: list[0].name,
					Version: list[0].version, Place: folder, Evidence: one.how, Source: list[0].inside,
					Packages: strings.ReplaceAll(strings.Trim(below, "/"), "/", ".")})
				delete(todo, name)
			}
			if folder == "/" || len(list) > 0 {
				break
			}
			folder = path.Dir(folder)
		}
	}
}

// unpacked reads the pom.properties below a folder.
func (c *collector) unpacked(root *Root, folder string) (list []artifact) {
	maven := path.Join(folder, "META-INF/maven")
	for _, group := range c.allowed.names(root, maven) {
		for _, name := range c.allowed.names(root, path.Join(maven, group)) {
			source := path.Join(maven, group, name, "pom.properties")
			values := fields(c.allowed.read(root, source, maxProperties), "=")
			if values["artifactId"] != "" && len(list) < maxArtifacts {
				list = append(list, artifact{values["groupId"] + ":" + values["artifactId"], values["version"], "",
					source})
			}
		}
	}
	return list
}
