package dependency

import (
	"path"
	"regexp"
	"strings"

	"culprit/recording"
)

// Index finds the dependency that a frame runs code of.
type Index struct {
	rows     []recording.Dependency
	folders  map[string][]int // of scripts and modules, by place
	files    map[string][]int // of ELF files, by base name
	packages map[string][]int // by what names of functions begin with
}

// NewIndex indexes the dependencies of one recording.
func NewIndex(rows []recording.Dependency) *Index {
	x := &Index{rows: rows, folders: map[string][]int{}, files: map[string][]int{}, packages: map[string][]int{}}
	for i, row := range rows {
		if row.Evidence == recording.SeenInstalled {
			continue
		}
		for _, name := range strings.Fields(row.Packages) {
			x.packages[name] = append(x.packages[name], i)
		}
		switch {
		case row.Kind == recording.DependencyOption, row.Kind == recording.DependencyKernel,
			row.Kind == recording.DependencyImage, row.Packages != "", row.Place == "":
		case row.Hash != "" && !strings.HasPrefix(row.Hash, sumMark):
			x.files[path.Base(row.Place)] = append(x.files[path.Base(row.Place)], i)
		default:
			x.folders[row.Place] = append(x.folders[row.Place], i)
		}
	}
	return x
}

const sumMark = "sha256:"

// Of gives the row of the dependency that a frame runs code of, the most particular one; nil for
// none.
func (x *Index) Of(frame *recording.Frame) *recording.Dependency {
	if found := x.rowsOf(frame); len(found) > 0 {
		return &x.rows[found[0]]
	}
	return nil
}

// rowsOf gives all rows, the most particular one first.
func (x *Index) rowsOf(frame *recording.Frame) (found []int) {
	switch frame.Kind {
	case recording.KindKernel, recording.KindVDSO:
		return nil
	case recording.KindGo:
		if found = x.byPackage(goModule(frame.File)); found == nil {
			found = x.byPackage(goPackage(frame.Name))
		}
	case recording.KindJVM:
		return x.byPackage(javaMethod(frame.Name))
	case recording.KindNative:
		if match := cratePath.FindStringSubmatch(frame.File); match != nil {
			return x.byPackage(crateModule(match[1]))
		}
		if name := rustCrate(frame.Name); name != "" {
			found = x.byPackage(name)
		}
	default:
		if name := sourceOf(frame); name != "" {
			return x.byFolder(name)
		}
	}
	if frame.Module == "" {
		return found
	}
	for _, at := range x.files[path.Base(frame.Module)] {
		if x.rows[at].Hash == frame.BuildID || frame.BuildID == "" {
			found = append(found, at)
		}
	}
	return found
}

// byFolder finds what lies above a file.
func (x *Index) byFolder(name string) []int {
	for at := name; at != "/" && at != "."; at = path.Dir(at) {
		if found := x.folders[at]; len(found) > 0 {
			return found
		}
	}
	return nil
}

// byPackage finds the longest begin of a name that ends where a part of it does.
func (x *Index) byPackage(name string) []int {
	for at := len(name); at > 0; at = strings.LastIndexAny(name[:at], "./:") {
		if found := x.packages[name[:at]]; len(found) > 0 {
			return found
		}
	}
	return nil
}

// fetched is a source file in the cache of modules, or as -trimpath leaves it: what was inlined has
// its own place.
var fetched = regexp.MustCompile(`(?:^|/pkg/mod/)([^/@]+(?:/[^/@]+)*)@v[^/]+/`)

// goModule is the module of a source file that was fetched, "" of others. Capitals stand in it as
// "!x".
func goModule(file string) string {
	match := fetched.FindStringSubmatch(file)
	if match == nil {
		return ""
	}
	name := match[1]
	for {
		at := strings.IndexByte(name, '!')
		if at < 0 || at+1 == len(name) {
			return name
		}
		name = name[:at] + strings.ToUpper(name[at+1:at+2]) + name[at+2:]
	}
}

// javaMethod is the full name in "int
// org.apache.commons.lang3.StringUtils.compare(java.lang.String)".
func javaMethod(name string) string {
	name, _, _ = strings.Cut(name, "(")
	return name[strings.LastIndexByte(name, ' ')+1:]
}

// goPackage is the import path of a function's package; the linker writes dots of the last part as
// "%2e".
func goPackage(name string) string {
	return strings.ReplaceAll(name, "%2e", ".")
}

// rustCrate is the crate of a function: "hashbrown" of "hashbrown::raw::RawTable<T>::find" and of
// "<hashbrown::map::Iter as core::iter::Iterator>::next"; "" for names without one.
func rustCrate(name string) string {
	name = strings.TrimLeft(name, "<&*[( ")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "mut "), "dyn ")
	crate, _, found := strings.Cut(name, "::")
	if !found || strings.ContainsAny(crate, " <>()") {
		return ""
	}
	return crate
}
