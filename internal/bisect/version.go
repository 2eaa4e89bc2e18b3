package bisect

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// version is a published version, split so that it can be compared: numbers of the release, and
// what comes before or after that release.
type version struct {
	text    string
	epoch   int
	release []int
	// rank orders what shares the release: below 0 before it, 0 the release, above 0 after it.
	rank  int
	parts []string // of the tail, compared one by one: numbers as numbers
	pre   bool
}

// plainVersion are the versions that are handed on: no registry needs other signs, and a shell
// gives these no meaning.
var plainVersion = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+!_~-]{0,127}$`)

// tailParts are runs of digits and runs of letters.
var tailParts = regexp.MustCompile(`\d+|[A-Za-z]+`)

// The ranks of tails, as PEP 440, Semantic Versioning and Maven's ComparableVersion order them.
var tailRanks = map[string]int{
	"dev": -6, "a": -5, "alpha": -5, "b": -4, "beta": -4, "m": -3, "milestone": -3,
	"c": -2, "rc": -2, "cr": -2, "pre": -2, "preview": -2, "snapshot": -1,
	"final": 0, "ga": 0, "release": 0, "post": 1, "rev": 1, "r": 1, "sp": 1, "patch": 1,
}

// readVersion splits a version of an ecosystem.
func readVersion(ecosystem, text string) (version, bool) {
	if !plainVersion.MatchString(text) {
		return version{}, false
	}
	v := version{text: text}
	rest := strings.TrimPrefix(strings.TrimPrefix(text, "v"), "V")
	if before, after, found := strings.Cut(rest, "!"); found {
		v.epoch, _ = strconv.Atoi(before) // what is no number is refused below
		rest = after
	}
	// Build metadata orders nothing, but for what Python calls a local version.
	rest, local, _ := strings.Cut(rest, "+")
	end := 0
	for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || rest[end] == '.') {
		end++
	}
	for _, digits := range strings.FieldsFunc(rest[:end], func(r rune) bool { return r == '.' }) {
		number, err := strconv.Atoi(digits)
		if err != nil {
			return version{}, false
		}
		v.release = append(v.release, number)
	}
	if len(v.release) == 0 {
		return version{}, false
	}
	v.parts = tailParts.FindAllString(strings.ToLower(rest[end:]), -1)
	v.rank = rankOf(ecosystem, v.parts)
	v.pre = v.rank < 0
	if ecosystem == pypi && local != "" {
		v.parts = append(v.parts, tailParts.FindAllString(local, -1)...)
	}
	for len(v.release) > 1 && v.release[len(v.release)-1] == 0 {
		v.release = v.release[:len(v.release)-1]
	}
	return v, true
}

func rankOf(ecosystem string, tail []string) int {
	if len(tail) == 0 {
		return 0
	}
	// Semantic Versioning: whatever follows a dash comes before the release.
	if ecosystem == npm || ecosystem == crate || ecosystem == golang {
		return -1
	}
	rank, known := tailRanks[tail[0]]
	switch {
	case ecosystem == pypi && tail[0][0] >= '0' && tail[0][0] <= '9':
		return 1 // 1.0-1 is 1.0.post1
	case !known:
		return 1 // Maven: jre, android and other words are later than the release
	case ecosystem == pypi && slices.Contains(tail, "dev") && rank > -6:
		return rank // 1.0a1.dev1: told apart from 1.0a1 by its parts
	}
	return rank
}

// compareVersions orders versions of one ecosystem.
func compareVersions(a, b version) int {
	if order := cmp.Compare(a.epoch, b.epoch); order != 0 {
		return order
	}
	if order := slices.Compare(a.release, b.release); order != 0 {
		return order
	}
	if order := cmp.Compare(a.rank, b.rank); order != 0 {
		return order
	}
	for i := 0; i < min(len(a.parts), len(b.parts)); i++ {
		if order := comparePart(a.parts[i], b.parts[i]); order != 0 {
			return order
		}
	}
	if order := cmp.Compare(len(a.parts), len(b.parts)); order != 0 {
		longer := a.parts
		if order < 0 {
			longer = b.parts
		}
		if longer[min(len(a.parts), len(b.parts))] == "dev" {
			return -order
		}
		return order
	}
	return 0
}

func comparePart(a, b string) int {
	first, errFirst := strconv.Atoi(a)
	second, errSecond := strconv.Atoi(b)
	switch {
	case errFirst == nil && errSecond == nil:
		return cmp.Compare(first, second)
	case errFirst == nil:
		return -1 // Semantic Versioning 11.4.3: numbers come before words
	case errSecond == nil:
		return 1
	}
	return strings.Compare(a, b)
}
