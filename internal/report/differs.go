package report

import (
	"fmt"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/compare/differs"
	"culprit/internal/investigate"
)

const (
	differsNamed    = 3 // differences that the line names
	differenceRunes = 90
	differsUnknown  = "not known: nothing was recorded"
	differsNothing  = "nothing that was seen: the same dependencies, settings, variables and options"
)

// differsLine says in one line what the sides are not the same in, what grown stacks go through
// first: "jinja2 3.0.3 → 3.1.4, and 2 others that no grown stack goes through".
func differsLine(list []differs.Difference) string {
	var grown, seen, beside []string
	leads := 0
	for i := range list {
		text := visible(list[i].String(), differenceRunes)
		switch {
		case list[i].Follows != "":
			leads++
		case !list[i].Seen():
			beside = append(beside, text)
		case list[i].Grown:
			grown = append(grown, text)
		default:
			seen = append(seen, text)
		}
	}
	named := append([]string{}, grown[:min(len(grown), differsNamed)]...)
	if len(named) == 0 {
		named, seen = seen[:min(len(seen), differsNamed)], seen[min(len(seen), differsNamed):]
	} else if len(grown) > differsNamed {
		named = append(named, plural(len(grown)-differsNamed, "more")+" that grown stacks go through")
	}
	line := strings.Join(named, ", ")
	if others := len(seen); others > 0 && len(grown) > 0 {
		line += fmt.Sprintf(", and %s that no grown stack goes through", plural(others, "other"))
	} else if others > 0 {
		line += fmt.Sprintf(", and %s", plural(others, "other"))
	}
	if line == "" {
		line = differsNothing
	}
	if len(beside) > 0 {
		line += fmt.Sprintf("; beside what ran %s", lieThere(len(beside)))
	}
	return line
}

func lieThere(count int) string {
	if count == 1 {
		return "lies another package of another version"
	}
	return fmt.Sprintf("lie %d packages of other versions", count)
}

// differsWords is that line of a case, "" where nothing was recorded or there is one side.
func differsWords(c *investigate.Case) string {
	if c.B == nil || c.Differs == nil {
		return ""
	}
	return differsLine(c.Differs)
}

// differs writes the line right under the effect.
func (p *page) differs(line string) {
	if line != "" {
		p.entry("differs", "A and B differ in: "+line, bold, plain)
	}
}

func followsWords(suspects []cause.Suspect) []string {
	words := make([]string, len(suspects))
	for i := range suspects {
		words[i] = followsLine(suspects[i].Follows)
	}
	return words
}

// followsLine says whether a suspect comes from the one thing in which the sides differ.
func followsLine(follows *cause.Follows) string {
	if follows == nil {
		return ""
	}
	from := visible(follows.From, differenceRunes)
	switch follows.Answer {
	case cause.FollowsYes:
		if follows.Part == 1 {
			return "from " + from
		}
		return fmt.Sprintf("from %s: %s of its growth goes through it", from, percent(follows.Part))
	case cause.FollowsPartly:
		return fmt.Sprintf("partly from %s: %s of its growth goes through it", from, percent(follows.Part))
	case cause.FollowsNo:
		return "no stack of it goes through " + from + ", the only thing that was seen to differ"
	}
	return "whether from " + from + " is not seen; nothing else was seen to differ"
}

// followsShort is the same behind a suspect in one line.
func followsShort(follows *cause.Follows) string {
	if follows == nil {
		return ""
	}
	switch follows.Answer {
	case cause.FollowsYes:
		return " · follows from it"
	case cause.FollowsPartly:
		return " · partly follows from it"
	case cause.FollowsNo:
		return " · not through it"
	}
	return ""
}
