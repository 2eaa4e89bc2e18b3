package ablate

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"slices"
	"strings"
)

// The kinds of what is varied.
const (
	Threshold = "threshold" // a numeric constant
	Rule      = "rule"      // an element of a table of rules
	Name      = "name"      // an element of a list of names
)

// Variant is one change of one source file.
type Variant struct {
	Kind string
	Of   string // "cause.leastShare", `cause.transfers "queue after a wait"`
	How  string // "-25 %", "+25 %", "off"

	file       string // absolute
	start, end int    // bytes of it
	with       string // what they become

	at    int            // threshold: where the constant's name begins
	value constant.Value // threshold: what it becomes
}

// String is what -only is matched with.
func (v Variant) String() string { return v.Kind + " " + v.Of + " " + v.How }

// find lists what can be varied in the files of a package, in their order.
func find(sources []source) (variants []Variant) {
	known, rows := constants(sources), rowTypes(sources)
	for _, s := range sources {
		ast.Inspect(s.syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.GenDecl:
				if node.Tok == token.CONST {
					variants = append(variants, s.thresholds(node, known)...)
				}
			case *ast.CompositeLit:
				variants = append(variants, s.rows(node, rows)...)
			}
			return true
		})
	}
	return variants
}

func (s *source) variant(kind, of, how string, from, to token.Pos, with string) Variant {
	return Variant{Kind: kind, Of: s.syntax.Name.Name + "." + of, How: how, file: s.path,
		start: s.files.Position(from).Offset, end: s.files.Position(to).Offset, with: with}
}

// thresholds are the numeric constants of a declaration, a quarter smaller and a quarter larger.
func (s *source) thresholds(declaration *ast.GenDecl,
	known map[string]constant.Value) (variants []Variant) {
	for _, spec := range declaration.Specs {
		spec := spec.(*ast.ValueSpec)
		for i, name := range spec.Names {
			if i >= len(spec.Values) {
				continue
			}
			expression := spec.Values[i]
			value := evaluate(expression, known)
			if value == nil || constant.Sign(value) == 0 {
				continue
			}
			text := s.textOf(expression)
			for _, by := range []struct {
				how      string
				quarters int
			}{{"-25 %", 3}, {"+25 %", 5}} {
				v := s.variant(Threshold, name.Name, by.how, expression.Pos(), expression.End(),
					scaled(text, value, by.quarters))
				v.at, v.value = s.files.Position(name.Pos()).Offset, changedBy(value, by.quarters)
				variants = append(variants, v)
			}
		}
	}
	return variants
}

// fewest is the number below which a quarter is no whole number: such constants are changed by one.
const fewest = 8

// scaled writes a constant expression that is quarters/4 of the one given.
func scaled(text string, value constant.Value, quarters int) string {
	if value.Kind() != constant.Int {
		return fmt.Sprintf("((%s) * %d / 4.0)", text, quarters)
	}
	if whole, exact := constant.Int64Val(value); exact && max(whole, -whole) < fewest {
		return fmt.Sprintf("((%s) %+d)", text, quarters-4)
	}
	return fmt.Sprintf("((%s) / 4 * %d)", text, quarters)
}

// rows are the elements of a table of rules, or of a list of names, each switched off once: left
// out, or where it has a function, which other rules may refer to, with one that does nothing.
func (s *source) rows(table *ast.CompositeLit, rowTypes map[string]rowType) (variants []Variant) {
	kind := s.kindOf(table, rowTypes)
	if kind == "" {
		return nil
	}
	of := s.declarationAround(table)
	for _, element := range table.Elts {
		if does := rowTypes[elementType(table)].does(element); does != nil {
			variants = append(variants, s.variant(kind, of+" "+s.label(element), "off", does.Pos(), does.End(),
				rowTypes[elementType(table)].nothing))
			continue
		}
		end := s.files.Position(element.End()).Offset
		rest := strings.TrimLeft(s.text[end:], " \t")
		if strings.HasPrefix(rest, ",") {
			end += len(s.text[end:]) - len(rest) + 1
		}
		v := s.variant(kind, of+" "+s.label(element), "off", element.Pos(), element.End(), "")
		v.end = end
		variants = append(variants, v)
	}
	return variants
}

// kindOf says what the elements of a composite literal are, "" for neither rules nor names.
func (s *source) kindOf(table *ast.CompositeLit, rowTypes map[string]rowType) string {
	switch of := table.Type.(type) {
	case *ast.ArrayType:
		switch element := of.Elt.(type) {
		case *ast.FuncType:
			return Rule
		case *ast.Ident:
			if _, known := rowTypes[element.Name]; known {
				return Rule
			}
			if element.Name == "string" && s.atTop(table) {
				return Name
			}
		}
	case *ast.MapType:
		if key, ok := of.Key.(*ast.Ident); ok && key.Name == "string" && s.atTop(table) {
			return Name
		}
	}
	return ""
}

// atTop reports whether a literal belongs to a variable of the package.
func (s *source) atTop(table *ast.CompositeLit) bool {
	return slices.ContainsFunc(s.syntax.Decls, func(declaration ast.Decl) bool {
		general, ok := declaration.(*ast.GenDecl)
		return ok && general.Tok == token.VAR && general.Pos() <= table.Pos() &&
			table.End() <= general.End()
	})
}

// declarationAround names the variable or function that a literal stands in, and the row of another
// table that it is part of.
func (s *source) declarationAround(table *ast.CompositeLit) (name string) {
	row := ""
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		if node == nil || node.Pos() > table.Pos() || table.End() > node.End() {
			return false
		}
		switch node := node.(type) {
		case *ast.FuncDecl:
			name = node.Name.Name
		case *ast.ValueSpec:
			name = cmp.Or(name, node.Names[0].Name)
		case *ast.CompositeLit:
			if node.Type == nil && len(node.Elts) > 0 { // an element of a list
				row = " " + s.textOf(node.Elts[0])
			}
		}
		return true
	})
	return name + row
}

// labelLength is how much of an element stands in its label.
const labelLength = 60

func (s *source) textOf(node ast.Node) string {
	return s.text[s.files.Position(node.Pos()).Offset:s.files.Position(node.End()).Offset]
}

// label is the first text or name in an element: most rules begin with what they are called.
func (s *source) label(element ast.Expr) string {
	text := strings.Join(strings.Fields(s.textOf(element)), " ")
	if len(text) > labelLength {
		text = strings.ToValidUTF8(text[:labelLength], "") + "…"
	}
	return text
}
