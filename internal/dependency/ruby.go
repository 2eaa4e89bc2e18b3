package dependency

import (
	"regexp"

	"culprit/recording"
)

// gemFile is a file of a gem: "…/gems/rack-2.2.8/lib/rack.rb"; of its compiled part
// "…/extensions/x86_64-linux/3.1.0/ json-2.6.1/json/ext/parser.so"; of one out of a repository
// "…/bundler/gems/rack-1a2b3c4d5e6f/lib/rack.rb".
var gemFile = regexp.MustCompile(`^(.*)/(?:(?:bundler/)?gems|extensions/[^/]+/[^/]+)/([A-Za-z][\w.-]*?)-` +
	`(\d+(?:\.[0-9A-Za-z]+)*(?:-[a-z][\w-]*)?|[0-9a-f]{12})/`)

// ruby claims the files of gems: where they lie says name and version.
func (c *collector) ruby(_ *Root, todo map[string]unit) {
	for name, one := range todo {
		match := gemFile.FindStringSubmatch(name)
		if match == nil || scriptOf(name) != "ruby" && one.binary == nil {
			continue
		}
		row := recording.Dependency{Kind: recording.DependencyRuby, Name: match[2], Version: match[3],
			Place: match[0][:len(match[0])-1], Evidence: one.how, Source: match[0][:len(match[0])-1]}
		c.add(row)
		if one.binary != nil {
			row.Place, row.Hash = name, one.binary.buildID
			c.add(row)
			c.linked(name, one.binary, one.how)
		}
		delete(todo, name)
	}
}
