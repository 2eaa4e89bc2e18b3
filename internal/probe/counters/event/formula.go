package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Formula computes a number from what events counted, as the maker of a CPU publishes it:
// "stall_slot_frontend / (cpu_cycles * 8) - br_mis_pred / cpu_cycles". It knows + - * / and
// parentheses.
type Formula struct {
	Text   string
	Events []string // their names, each once, in the order in which the formula has them
	root   node
}

// node is a part of a formula: its value, by the events' counts in the order of Formula.Events.
type node func(counts []float64) float64

// Value of the formula for the counts of its events.
func (f *Formula) Value(counts []float64) float64 { return f.root(counts) }

// parseFormula reads one.
func parseFormula(text string) (*Formula, error) {
	p := formulaParser{formula: &Formula{Text: text}, rest: text}
	root, err := p.sum()
	if err == nil && p.next() != "" {
		err = fmt.Errorf("%q is not expected", p.next())
	}
	if err != nil {
		return nil, fmt.Errorf("formula %q: %w", text, err)
	}
	p.formula.root = root
	return p.formula, nil
}

type formulaParser struct {
	formula *Formula
	rest    string
	depth   int
}

// mostNested bounds the recursion.
const mostNested = 20

const operators = "+-*/()"

// next is the word that comes, "" at the end.
func (p *formulaParser) next() string {
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest == "" || strings.ContainsRune(operators, rune(p.rest[0])) {
		return p.rest[:min(1, len(p.rest))]
	}
	if end := strings.IndexAny(p.rest, " "+operators); end >= 0 {
		return p.rest[:end]
	}
	return p.rest
}

func (p *formulaParser) take() string {
	word := p.next()
	p.rest = p.rest[len(word):]
	return word
}

// sum reads products with + and - between them.
func (p *formulaParser) sum() (node, error) {
	left, err := p.product()
	for err == nil {
		var right node
		before := left
		switch p.next() {
		case "+":
			p.take()
			right, err = p.product()
			left = func(counts []float64) float64 { return before(counts) + right(counts) }
		case "-":
			p.take()
			right, err = p.product()
			left = func(counts []float64) float64 { return before(counts) - right(counts) }
		default:
			return left, nil
		}
	}
	return nil, err
}

// product reads factors with * and / between them.
func (p *formulaParser) product() (node, error) {
	left, err := p.factor()
	for err == nil {
		var right node
		before := left
		switch p.next() {
		case "*":
			p.take()
			right, err = p.factor()
			left = func(counts []float64) float64 { return before(counts) * right(counts) }
		case "/":
			p.take()
			right, err = p.factor()
			left = func(counts []float64) float64 { return before(counts) / right(counts) }
		default:
			return left, nil
		}
	}
	return nil, err
}

// factor reads a number, an event or what stands in parentheses.
func (p *formulaParser) factor() (node, error) {
	word := p.take()
	switch {
	case word == "(":
		if p.depth++; p.depth > mostNested {
			return nil, fmt.Errorf("it is nested too deeply")
		}
		inner, err := p.sum()
		if err == nil && p.take() != ")" {
			err = fmt.Errorf("a parenthesis is not closed")
		}
		p.depth--
		return inner, err
	case word == "" || strings.Contains(operators, word):
		return nil, fmt.Errorf("a number or an event is expected, not %q", word)
	}
	if number, err := strconv.ParseFloat(word, 64); err == nil {
		return func([]float64) float64 { return number }, nil
	}
	if !pmuShape.MatchString(word) {
		return nil, fmt.Errorf("%q is no event", word)
	}
	at := slices.Index(p.formula.Events, word)
	if at < 0 {
		at = len(p.formula.Events)
		p.formula.Events = append(p.formula.Events, word)
	}
	return func(counts []float64) float64 { return counts[at] }, nil
}
