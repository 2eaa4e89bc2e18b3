package code

import (
	"regexp"
	"strings"

	"culprit/recording"
)

// goStandard are the first elements of the import paths of Go's standard library (Go 1.26).
var goStandard = wordSet(`archive bufio builtin bytes cmp compress container context crypto database
	debug embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math
	mime net os path plugin reflect regexp runtime slices sort strconv strings structs sync syscall
	testing text time type unicode unique unsafe vendor weak _cgo`)

// deferred is what Go's compiler calls the closure of a defer statement: its caller is the place.
var deferred = regexp.MustCompile(`\.deferwrap[0-9]+$`)

func goOwner(frame *recording.Frame) Owner {
	name := frame.Name
	first, _, found := strings.Cut(name, "/")
	if !found {
		if first, _, found = strings.Cut(name, "."); !found {
			return Runtime // assembly: memeqbody, aeshashbody …
		}
	}
	switch {
	case first == "runtime":
		return Runtime
	case goStandard[first]:
		return Standard
	case isPackaged(frame), first == "golang.org" && frame.File == "":
		return Package
	}
	return Program
}
