package differs

import (
	"slices"
	"strings"
)

// mostWords bounds the words of a command that are aligned: of longer ones those at the ends that
// are the same on both sides are passed over, and the rest is compared up to here.
const mostWords = 500

// ofWords lists the words in which two lists differ. Words that stand in the same gap between words
// of both sides are paired, those of the same name first; an option that only one side has goes
// with its value.
func ofWords(called string, a, b []string) (list []Difference) {
	for _, gap := range gaps(a, b) {
		onlyA, onlyB := gap[0], gap[1]
		if len(onlyA) != len(onlyB) {
			onlyA, onlyB = withValues(onlyA), withValues(onlyB)
		}
		onlyA, onlyB = byName(onlyA, onlyB)
		for i := range max(len(onlyA), len(onlyB)) {
			list = append(list, ofWord(called, at(onlyA, i), at(onlyB, i)))
		}
	}
	return withoutMoved(list)
}

// withoutMoved makes one difference of an option that only A has at one place, and only B at
// another: none where its value is the same.
func withoutMoved(list []Difference) (kept []Difference) {
	for _, one := range list {
		nameOf := func(d *Difference) string {
			if strings.HasPrefix(d.Name, "-") {
				return d.Name
			}
			return d.A + d.B
		}
		moved := slices.IndexFunc(kept, func(other Difference) bool {
			apart := one.A == "" && other.B == "" || one.B == "" && other.A == ""
			return apart && nameOf(&one) == nameOf(&other) && strings.HasPrefix(nameOf(&one), "-")
		})
		switch {
		case moved < 0:
			kept = append(kept, one)
		case one.A+one.B == kept[moved].A+kept[moved].B:
			kept = slices.Delete(kept, moved, moved+1)
		default:
			kept[moved].A, kept[moved].B = kept[moved].A+one.A, kept[moved].B+one.B
		}
	}
	return kept
}

// ofWord is one word against another, "" for none.
func ofWord(called, x, y string) Difference {
	d := Difference{Kind: Option, Name: called, A: x, B: y}
	nameA, valueA, setA := strings.Cut(x, "=")
	nameB, valueB, setB := strings.Cut(y, "=")
	switch {
	case setA && setB && nameA == nameB:
		d.Name, d.A, d.B = nameA, valueA, valueB
	case setA && y == "":
		d.Name, d.A = nameA, valueA
	case setB && x == "":
		d.Name, d.B = nameB, valueB
	}
	if isVariable(d.Name) {
		d.Kind = Variable
	}
	return d
}

// isVariable tells an assignment before a command from an option.
func isVariable(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

func at(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// byName puts words of the same name at the same place of both lists, where both have them.
func byName(a, b []string) (x, y []string) {
	b = slices.Clone(b)
	var restA []string
	for _, word := range a {
		name, _, set := strings.Cut(word, "=")
		same := slices.IndexFunc(b, func(other string) bool { return strings.HasPrefix(other, name+"=") })
		if !set || same < 0 {
			restA = append(restA, word)
			continue
		}
		x, y = append(x, word), append(y, b[same])
		b = slices.Delete(b, same, same+1)
	}
	return append(x, restA...), append(y, b...)
}

// withValues joins an option with the word behind it that is its value.
func withValues(words []string) (joined []string) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if isOption(word) && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			word += " " + words[i]
		}
		joined = append(joined, word)
	}
	return joined
}

// isOption tells an option whose value is not in the same word.
func isOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && word != "--" && !strings.ContainsAny(word, "=: ")
}

// gaps are what only one of two lists has between the words that they have in common, by the
// longest common subsequence.
func gaps(a, b []string) (list [][2][]string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	a, b = a[:min(len(a), mostWords)], b[:min(len(b), mostWords)]
	longest := make([][]int, len(a)+1) // of what is behind both positions
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			longest[i][k] = max(longest[i+1][k], longest[i][k+1])
			if a[i] == b[k] {
				longest[i][k] = 1 + longest[i+1][k+1]
			}
		}
	}
	var gap [2][]string
	end := func() {
		if len(gap[0])+len(gap[1]) > 0 {
			list, gap = append(list, gap), [2][]string{}
		}
	}
	i, k := 0, 0
	for i < len(a) || k < len(b) {
		switch {
		case i < len(a) && k < len(b) && a[i] == b[k]:
			end()
			i, k = i+1, k+1
		case k == len(b) || i < len(a) && longest[i+1][k] >= longest[i][k+1]:
			gap[0], i = append(gap[0], a[i]), i+1
		default:
			gap[1], k = append(gap[1], b[k]), k+1
		}
	}
	end()
	return list
}
