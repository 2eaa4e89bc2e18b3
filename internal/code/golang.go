package code

import (
	"regexp"
	"strings"

	"culprit/recording"
)

// goStandard are the first elements of the import paths of Go's standard library.
var goStandard = wordSet(`archive bufio builtin bytes cmp compress container context crypto database debug embed
	encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin
	reflect regexp runtime slices sort strconv strings structs sync syscall testing text time type unicode unique
	unsafe vendor weak _cgo golang.org`)

func goApplication(name string) bool {
	first, _, found := strings.Cut(name, "/")
	if !found {
		if first, _, found = strings.Cut(name, "."); !found {
			return false // assembly: memeqbody, aeshashbody …
		}
	}
	return !goStandard[first]
}

// deferred is what Go's compiler calls the closure of a defer statement: its caller is the place.
var deferred = regexp.MustCompile(`\.deferwrap[0-9]+$`)

// IsDeferred tells the closure that Go's compiler makes of a defer statement.
func IsDeferred(frame recording.Frame) bool { return deferred.MatchString(frame.Name) }
