package code

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"culprit/recording"
)

// installed are the folders that package managers put packages into, up to the package's own: Go's
// module cache (which -trimpath leaves out) and vendored modules, npm, Cargo.
var installed = map[recording.FrameKind]*regexp.Regexp{
	recording.KindGo: regexp.MustCompile(
		`^((?:.*/pkg/mod/)?[^/]+\.[^/]+/.*?@v[0-9][^/]*|.*/vendor/[^/]+\.[^/]+/.*)/`),
	recording.KindNode:   regexp.MustCompile(`^(.*/node_modules/(?:@[^/]+/)?[^/]+)/`),
	recording.KindNative: regexp.MustCompile(`^(.*/registry/src/[^/]+/[^/]+?-[0-9]+\.[^/]*)/`),
}

// packageFolder is the folder of the package that a frame's file is installed with, "" for none.
func packageFolder(frame *recording.Frame) string {
	folders := installed[frame.Kind]
	if folders == nil || frame.File == "" {
		return ""
	}
	if found := folders.FindStringSubmatch(frame.File); found != nil {
		return found[1]
	}
	return ""
}

// isPackaged tells a function that a package manager installed with a package, in Go, Rust and
// Node. The file of a frame in Go may be that of another function, which was inlined, so that it
// has to agree with the name; in Rust too where only lines are known.
func isPackaged(frame *recording.Frame) bool {
	folder := packageFolder(frame)
	switch {
	case folder == "":
		return false
	case frame.Kind == recording.KindGo:
		file := goVersion.ReplaceAllString(strings.ReplaceAll(path.Dir(frame.File), "!", ""), "")
		return strings.HasSuffix("/"+strings.ToLower(file), "/"+strings.ToLower(goPackage(frame.Name)))
	case frame.Kind == recording.KindNative:
		crate := crateVersion.ReplaceAllString(path.Base(folder), "")
		return strings.Contains(frame.Name, strings.ReplaceAll(crate, "-", "_")+"::")
	}
	return true
}

// systemHeader is a file that a package of the system, or make install, put into one of the folders
// for headers; what it finds is the path below that.
var systemHeader = regexp.MustCompile(`^/(?:usr|usr/local|opt/[^/]+)/include/(.+)/[^/]+$`)

// ofHeader tells a function of a library of C++ that is all headers, compiled into the program: its
// name begins with the folder that its file is in (asio::, boost::, Eigen::). A file alone may be
// that of another function, which was inlined.
func ofHeader(frame *recording.Frame) bool {
	found := systemHeader.FindStringSubmatch(frame.File)
	if found == nil {
		return false
	}
	name := strings.TrimPrefix(frame.Name, "non-virtual thunk to ")
	return slices.ContainsFunc(strings.Split(found[1], "/"), func(folder string) bool {
		return strings.HasPrefix(name, folder+"::") || strings.HasPrefix(name, folder+"_")
	})
}

// goVersion stands behind the path of a module in Go's cache, crateVersion behind the name of a
// crate in Cargo's.
var (
	goVersion    = regexp.MustCompile(`@v[^/]*`)
	crateVersion = regexp.MustCompile(`-[0-9]+\..*$`)
)

// goPackage is the import path of a function's package.
func goPackage(name string) string {
	name, _, _ = strings.Cut(name, "[")
	name, _, _ = strings.Cut(name, "(")
	folder := strings.LastIndexByte(name, '/') + 1
	last, _, _ := strings.Cut(name[folder:], ".")
	return strings.ReplaceAll(name[:folder]+last, "%2e", ".")
}

// Homes are the folders of packages that are the recorded programs themselves, as go install, npm
// and cargo install put them: what most of a program's entries, of one language, are in.
type Homes map[string]bool

// HomesOf looks for them where programs begin.
func HomesOf(recordings []*recording.Recording) Homes {
	type place struct {
		kind   recording.FrameKind
		folder string
	}
	entries, all := map[place]int{}, map[recording.FrameKind]int{}
	note := func(frame *recording.Frame) {
		entries[place{frame.Kind, packageFolder(frame)}]++
		all[frame.Kind]++
	}
	for _, rec := range recordings {
		for i := range rec.Frames {
			frame := &rec.Frames[i]
			if frame.File != "" && (frame.Kind == recording.KindGo && frame.Name == "main.main" ||
				frame.Kind == recording.KindNative && strings.HasSuffix(frame.Name, "::main")) {
				note(frame)
			}
		}
		for i := range rec.Stacks {
			if script := mainScript(rec, rec.Stacks[i].Frames); script != nil {
				note(script)
			}
		}
	}
	homes := Homes{}
	for entry, number := range entries {
		if entry.folder != "" && 2*number > all[entry.kind] {
			homes[entry.folder] = true
		}
	}
	return homes
}

// mainScript is the first function of a script that Node was started with, nil where a stack does
// not begin with that.
func mainScript(rec *recording.Recording, stack []int32) *recording.Frame {
	started := false
	for _, id := range stack {
		if id < 0 || int(id) >= len(rec.Frames) || rec.Frames[id].Kind != recording.KindNode {
			continue
		}
		frame := &rec.Frames[id]
		if started && strings.HasPrefix(frame.File, "/") {
			return frame
		}
		started = started || frame.Name == "executeUserEntryPoint"
	}
	return nil
}

// Within is a frame's file as the program itself names it where the program is an installed
// package: without the folders above the package's, so that it is no longer one.
func (h Homes) Within(frame *recording.Frame) string {
	if len(h) > 0 {
		if folder := packageFolder(frame); h[folder] {
			return path.Base(folder) + strings.TrimPrefix(frame.File, folder)
		}
	}
	return frame.File
}
