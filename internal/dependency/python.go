package dependency

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"culprit/recording"
)

// The limits of one folder of Python distributions.
const (
	maxRecord   = 8 << 20  // bytes of a RECORD
	maxMetadata = 64 << 10 // bytes of a METADATA that are looked at
	mostAbove   = 8        // folders above a module in which its distribution is looked for
)

// site is a folder that distributions were installed into.
type site struct {
	place
	distributions []*distribution
}

// distribution is one that is installed in a site.
type distribution struct {
	folder, name, version string // folder: "jinja2-3.1.4.dist-info"; name: normal form
}

var distributionFolder = regexp.MustCompile(`^(.+?)-([^-]+)(?:-py\d[\d.]*)?\.(?:dist-info|egg-info)$`)

// separators of names mean the same, and case nothing (PEP 503): Jinja2 3.0.3 and jinja2 3.1.4 are
// one project.
var separators = regexp.MustCompile(`[-_.]+`)

func normalName(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }

// python claims the files of distributions: modules by the RECORD that lists them.
func (c *collector) python(root *Root, todo map[string]unit) {
	bySite := map[*site]map[string]unit{} // by path below the site
	named := map[place][]string{}         // a module's source and what was compiled of it
	for name, one := range todo {
		if extension := path.Ext(name); extension != ".py" && extension != ".pyc" && extension != ".so" {
			continue
		}
		found := c.siteOf(root, name)
		if found == nil {
			continue
		}
		if bySite[found] == nil {
			bySite[found] = map[string]unit{}
		}
		below := moduleFile(strings.TrimPrefix(name, found.path+"/"))
		bySite[found][below] = one
		named[place{root, found.path + "/" + below}] = append(named[place{root, found.path + "/" + below}], name)
	}
	for found, files := range bySite {
		owners := c.owners(found, files)
		c.tellPython(found, files, owners)
		for below := range owners {
			for _, name := range named[place{root, found.path + "/" + below}] {
				delete(todo, name)
			}
		}
		for _, one := range found.distributions {
			c.add(recording.Dependency{Kind: recording.DependencyPython, Name: one.name, Version: one.version,
				Place: found.path, Evidence: recording.SeenInstalled, Source: found.path + "/" + one.folder})
		}
	}
}

var compiledModule = regexp.MustCompile(`^(.*/)?__pycache__/([^/]+?)\.[a-z]+-?\d+(?:\.opt-\d)?\.pyc$`)

// moduleFile is the source of a compiled module.
func moduleFile(name string) string {
	if match := compiledModule.FindStringSubmatch(name); match != nil {
		return match[1] + match[2] + ".py"
	}
	return name
}

// siteOf finds the folder of distributions that a module lies in.
func (c *collector) siteOf(root *Root, name string) *site {
	for _, mark := range []string{"/site-packages/", "/dist-packages/"} {
		if before, _, found := cutLast(name, mark); found {
			return c.site(place{root, before + strings.TrimSuffix(mark, "/")})
		}
	}
	folder := path.Dir(name)
	for range mostAbove {
		if folder == "/" || folder == "." || strings.HasSuffix(folder, "/lib") || strings.HasSuffix(folder, "/bin") {
			return nil
		}
		if found := c.site(place{root, folder}); found != nil {
			return found
		}
		folder = path.Dir(folder)
	}
	return nil
}

// site reads the distributions of a folder; nil where there are none.
func (c *collector) site(at place) *site {
	if known, there := c.sites[at]; there {
		return known
	}
	found := &site{place: at}
	names := c.allowed.names(at.root, at.path)
	slices.Sort(names)
	for _, name := range names {
		if match := distributionFolder.FindStringSubmatch(name); match != nil {
			found.distributions = append(found.distributions,
				&distribution{folder: name, name: normalName(match[1]), version: match[2]})
		}
	}
	if found.distributions == nil {
		found = nil
	}
	c.sites[at] = found
	return found
}

// owners finds the distribution of each file, both by path below the site.
func (c *collector) owners(at *site, files map[string]unit) map[string]*distribution {
	owners, left := map[string]*distribution{}, map[string]bool{}
	tops := map[string]bool{}
	for below := range files {
		left[below] = true
		top, _, _ := strings.Cut(below, "/")
		tops[normalName(strings.TrimSuffix(top, ".py"))] = true
	}
	likely := slices.Clone(at.distributions)
	slices.SortStableFunc(likely, func(a, b *distribution) int { // those that are called as a folder is, first
		switch {
		case tops[a.name] == tops[b.name]:
			return 0
		case tops[a.name]:
			return -1
		}
		return 1
	})
	for _, one := range likely {
		if len(left) == 0 {
			break
		}
		text := c.allowed.read(at.root, at.path+"/"+one.folder+"/RECORD", maxRecord)
		for line := range strings.Lines(text) {
			if below := recordedFile(line); left[below] {
				owners[below] = one
				delete(left, below)
			}
		}
	}
	c.byTop(at, left, owners)
	return owners
}

// recordedFile is the path of a line of a RECORD: "jinja2/lexer.py,sha256=…,100".
func recordedFile(line string) string {
	if quoted, found := strings.CutPrefix(line, `"`); found {
		name, _, _ := strings.Cut(quoted, `"`)
		return name
	}
	name, _, _ := strings.Cut(line, ",")
	return name
}

// byTop finds the distributions of files that no RECORD lists, as the system's packages leave it
// out: by the names of their modules.
func (c *collector) byTop(at *site, left map[string]bool, owners map[string]*distribution) {
	if len(left) == 0 {
		return
	}
	byName := map[string]*distribution{}
	for _, one := range at.distributions {
		folder := at.path + "/" + one.folder
		if c.allowed.read(at.root, folder+"/RECORD", 1) != "" {
			continue // it lists all that it has
		}
		for _, name := range strings.Fields(c.allowed.read(at.root, folder+"/top_level.txt", maxMetadata)) {
			byName[name] = one
		}
		if byName[one.name] == nil {
			byName[one.name] = one
		}
	}
	for below := range left {
		top, _, _ := strings.Cut(below, "/")
		top, _, _ = strings.Cut(top, ".")
		if one := byName[top]; one != nil {
			owners[below] = one
		} else if one := byName[normalName(top)]; one != nil {
			owners[below] = one
		}
	}
}

// tellPython makes rows of files and their owners: for each distribution the highest folders that
// are its alone, and its libraries.
func (c *collector) tellPython(at *site, files map[string]unit, owners map[string]*distribution) {
	alone := map[string]*distribution{} // folders by the one that has files below; nil: several
	for below, owner := range owners {
		for folder := below; folder != "."; folder = path.Dir(folder) {
			if other, there := alone[folder]; there && other != owner {
				alone[folder] = nil
			} else {
				alone[folder] = owner
			}
		}
	}
	for below, owner := range owners {
		highest := below
		for folder := path.Dir(below); folder != "." && alone[folder] == owner; folder = path.Dir(folder) {
			highest = folder
		}
		row := recording.Dependency{Kind: recording.DependencyPython, Name: owner.name,
			Version: owner.version + c.commit(at, owner), Place: at.path + "/" + highest, Evidence: files[below].how,
			Source: at.path + "/" + owner.folder}
		c.add(row)
		if one := files[below].binary; one != nil {
			row.Place, row.Hash = files[below].path, one.buildID
			c.add(row)
			c.linked(files[below].path, one, files[below].how)
		}
	}
}

var gitCommit = regexp.MustCompile(`"commit_id":\s*"([0-9a-f]{7,64})"`)

// commit is the one that a distribution was installed from, where it was out of a repository.
func (c *collector) commit(at *site, one *distribution) string {
	text := c.allowed.read(at.root, at.path+"/"+one.folder+"/direct_url.json", maxMetadata)
	if match := gitCommit.FindStringSubmatch(text); match != nil {
		return " (" + match[1][:min(len(match[1]), 12)] + ")"
	}
	return ""
}
