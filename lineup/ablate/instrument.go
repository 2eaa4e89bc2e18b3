package ablate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// instrument makes one program of all variants: sources that read their numbers from tables, and
// ask before each rule whether it is switched off.
type instrument struct {
	numbers  *numbers
	variants []Variant
	alone    []string // by variant: why it has to be compiled by itself, "" where it is in the program
	files    map[string]*edited
	tables   tables
	again    map[*code]map[types.Object]bool // by package: what holds a list that a variant shortens
}

// newInstrument changes the sources of packages.
func newInstrument(packages []*code, variants []Variant) *instrument {
	in := &instrument{numbers: newNumbers(packages), variants: variants, alone: make([]string, len(variants)),
		files: map[string]*edited{}, again: map[*code]map[types.Object]bool{}}
	in.tables.changes = make([]change, len(variants))
	for _, c := range packages {
		for i := range c.sources {
			s := &c.sources[i]
			file := &editing{instrument: in, code: c, source: s, edited: &edited{text: s.text}}
			file.readNumbers()
			file.switchRules()
			if len(file.edits) > 0 {
				in.files[s.path] = file.edited
			}
		}
		in.beginAgain(c)
	}
	return in
}

// editing is one file that is being changed.
type editing struct {
	*instrument
	code   *code
	source *source
	*edited
	way []ast.Node // from the file down to the node that is looked at
}

// offset is where a position is in the file.
func (f *editing) offset(at token.Pos) int { return f.source.files.Position(at).Offset }

// readNumbers lets each constant expression that a variant changes be read from the tables.
func (f *editing) readNumbers() {
	ast.Inspect(f.source.syntax, func(node ast.Node) bool {
		if node == nil {
			f.way = f.way[:len(f.way)-1]
			return true
		}
		if declared, ok := node.(*ast.GenDecl); ok && (declared.Tok == token.CONST || declared.Tok == token.IMPORT) {
			return false
		}
		if e, ok := node.(ast.Expr); ok && f.code.info.Types[e].Value != nil {
			f.readNumber(e)
			return false
		}
		f.way = append(f.way, node)
		return true
	})
}

// readNumber replaces one constant expression that is as long as can be.
func (f *editing) readNumber(e ast.Expr) {
	from := f.numbers.made(f.code, e)
	if len(from) == 0 {
		return
	}
	values, mine := map[int]constant.Value{}, false
	kind := f.code.info.TypeOf(e)
	float, written := f.typeOf(kind)
	for i := range f.variants {
		v := &f.variants[i]
		if v.Kind != Threshold || !from[f.numbers.at(v.file, v.at)] {
			continue
		}
		mine = true
		value := converted(f.numbers.with(f.code, e, f.numbers.at(v.file, v.at), v.value), kind)
		switch {
		case value == nil || written == "":
			f.alone[i] = "it is part of " + f.source.textOf(e) + ", which is no number that can be read from a table"
		case f.mustBeConstant(e):
			f.alone[i] = f.source.textOf(e) + " must be a constant where it stands"
		default:
			values[i] = value
		}
	}
	if !mine || len(values) == 0 {
		return
	}
	at := f.tables.add(f.code.info.Types[e].Value, float, values)
	f.early(e, values)
	read := map[bool]string{true: "Float", false: "Integer"}[float]
	if around := f.comparison(); around != nil {
		read += "In"
		f.computed(around, float, at)
	}
	f.replace(f.offset(e.Pos()), f.offset(e.End()), fmt.Sprintf("%s(vary.%s(%d))", written, read, at))
	f.keepImports(e)
}

// early marks variants whose number decides what a variable of the package begins with.
func (f *editing) early(e ast.Expr, values map[int]constant.Value) {
	if name := f.holder(e.Pos()); name != nil {
		f.mark(name)
		for i := range values {
			f.tables.changes[i].again, f.tables.changes[i].early = true, true
		}
	}
}

// typeOf says whether a type is one of floating-point numbers, and how it is written in the file,
// "" where it is no type of numbers or has no name there.
func (f *editing) typeOf(of types.Type) (float bool, written string) {
	basic, ok := of.Underlying().(*types.Basic)
	if !ok || basic.Info()&(types.IsInteger|types.IsFloat) == 0 || basic.Info()&types.IsUntyped != 0 {
		return false, ""
	}
	return basic.Info()&types.IsFloat != 0, f.written(of)
}

// written is a type as it is written in the file, "" where a package is not imported.
func (f *editing) written(of types.Type) string {
	known := true
	text := types.TypeString(of, func(other *types.Package) string {
		if other == f.code.types {
			return ""
		}
		for _, spec := range f.source.syntax.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil && path == other.Path() {
				if spec.Name != nil {
					return spec.Name.Name
				}
				return other.Name()
			}
		}
		known = false
		return ""
	})
	if !known {
		return ""
	}
	return text
}

// mustBeConstant reports whether the language wants a constant there: the length of an array, the
// index of an element.
func (f *editing) mustBeConstant(e ast.Expr) bool {
	if len(f.way) == 0 {
		return false
	}
	switch around := f.way[len(f.way)-1].(type) {
	case *ast.ArrayType:
		return around.Len == e
	case *ast.KeyValueExpr:
		if around.Key == e && len(f.way) > 1 {
			literal, ok := f.way[len(f.way)-2].(*ast.CompositeLit)
			if ok {
				_, isMap := f.code.info.TypeOf(literal).Underlying().(*types.Map)
				return !isMap
			}
		}
	}
	return false
}

// comparison is the innermost comparison, or choice by min or max, that computes with the constant
// expression that is looked at, nil where it goes elsewhere first.
func (f *editing) comparison() ast.Expr {
	for _, node := range slices.Backward(f.way) {
		switch node := node.(type) {
		case *ast.ParenExpr, *ast.UnaryExpr:
		case *ast.BinaryExpr:
			switch node.Op {
			case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
				return node
			}
		case *ast.CallExpr:
			called := f.code.info.Types[node.Fun]
			if name, ok := node.Fun.(*ast.Ident); ok && called.IsBuiltin() && (name.Name == "min" || name.Name == "max") {
				return node
			}
			if !called.IsType() {
				return nil
			}
		default:
			return nil
		}
	}
	return nil
}

// computed wraps a comparison once, and notes what numbers it computes with.
func (f *editing) computed(e ast.Expr, float bool, at int) {
	w := f.wrapping(f.offset(e.Pos()), f.offset(e.End()))
	if w.made == nil {
		kind := f.written(types.Default(f.code.info.TypeOf(e)))
		w.made = func(w *wrap) (string, string) {
			return "vary.Value(func() " + kind + " { return ", fmt.Sprintf(" }, []int{%s}, []int{%s})",
				strings.Join(w.floats, ", "), strings.Join(w.integers, ", "))
		}
	}
	if float {
		w.floats = append(w.floats, strconv.Itoa(at))
	} else {
		w.integers = append(w.integers, strconv.Itoa(at))
	}
}

// keepImports uses the packages that an expression used.
func (f *editing) keepImports(e ast.Expr) {
	ast.Inspect(e, func(node ast.Node) bool {
		if selected, ok := node.(*ast.SelectorExpr); ok {
			f.tail += "\nconst _ = " + f.source.textOf(selected) + "\n"
		}
		return true
	})
}
