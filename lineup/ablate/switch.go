package ablate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// switchRules lets each rule of the file be switched off: one that is a function does nothing then,
// others are left out of their list.
func (f *editing) switchRules() {
	numbered := map[[2]int]int{} // variants by the part of the text that they change
	for i, v := range f.variants {
		if v.file == f.source.path && v.Kind != Threshold {
			f.alone[i] = "it stands where nothing can be switched"
			numbered[[2]int{v.start, v.end}] = i
		}
	}
	ast.Inspect(f.source.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CompositeLit:
			f.shorten(node, numbered)
		case *ast.CallExpr:
			if name, ok := node.Fun.(*ast.Ident); ok && f.code.path == module+"/"+judging && name.Name == prepared {
				f.stage(node)
			}
		}
		if e, ok := node.(ast.Expr); ok {
			if i, is := numbered[[2]int{f.offset(e.Pos()), f.offset(e.End())}]; is && f.variants[i].with != "" {
				f.guard(e, i)
			}
		}
		return true
	})
}

// guard wraps a function that is a rule.
func (f *editing) guard(e ast.Expr, i int) {
	signature, ok := f.code.info.TypeOf(e).Underlying().(*types.Signature)
	if !ok || signature.Results().Len() > 1 || signature.Params().Len() < 1 || signature.Params().Len() > 2 {
		f.alone[i] = "its function has a shape of its own"
		return
	}
	f.alone[i] = ""
	does := map[int]string{0: "Does", 1: "Gives"}[signature.Results().Len()]
	w := f.wrapping(f.offset(e.Pos()), f.offset(e.End()))
	w.before = fmt.Sprintf("vary.%s%d(%d, ", does, signature.Params().Len(), i)
	w.behind = ")"
}

// shorten wraps a list of which elements can be left out.
func (f *editing) shorten(list *ast.CompositeLit, numbered map[[2]int]int) {
	if _, ok := f.code.info.TypeOf(list).Underlying().(*types.Slice); !ok || list.Type == nil {
		return
	}
	var of []string
	var left []int
	for _, element := range list.Elts {
		i := f.leftOut(element, numbered)
		if i >= 0 {
			left = append(left, i)
		}
		of = append(of, strconv.Itoa(i))
	}
	if len(left) == 0 {
		return
	}
	w := f.wrapping(f.offset(list.Pos()), f.offset(list.End()))
	w.before, w.behind = "vary.Without(", ", "+strings.Join(of, ", ")+")"
	holder := f.holder(list.Pos())
	if holder == nil {
		holder = f.function(list.Pos())
	}
	f.mark(holder)
	for _, i := range left {
		f.alone[i] = ""
		f.tables.changes[i].holder, f.tables.changes[i].in = holder, f.code
		f.tables.changes[i].early = f.variants[i].Kind != Rule
		f.tables.changes[i].order = f.code.path == module+"/"+judging && elementType(list) == "deference"
	}
}

// leftOut is the variant that leaves an element out, with the comma behind it, -1 where there is
// none.
func (f *editing) leftOut(element ast.Expr, numbered map[[2]int]int) int {
	start := f.offset(element.Pos())
	for end := f.offset(element.End()); end <= len(f.text); end++ {
		if i, is := numbered[[2]int{start, end}]; is && f.variants[i].with == "" {
			return i
		}
		if end < len(f.text) && !strings.ContainsRune(", \t", rune(f.text[end])) {
			break
		}
	}
	return -1
}

// prepared is the function of the judging package that works out what rules look at, and nothing
// changes afterwards: it need not be asked again for rules.
const prepared = "newScene"

func (f *editing) stage(call *ast.CallExpr) {
	w := f.wrapping(f.offset(call.Pos()), f.offset(call.End()))
	w.before = "vary.Stage(in.Result, func() " + f.written(f.code.info.TypeOf(call)) + " { return "
	w.behind = " })"
}

// holder is the variable of the package whose first value stands at a place, nil where that is
// inside of a function: it is computed at each call.
func (f *editing) holder(at token.Pos) types.Object {
	for _, declared := range f.source.syntax.Decls {
		general, ok := declared.(*ast.GenDecl)
		if !ok || general.Tok != token.VAR || at < general.Pos() || at > general.End() {
			continue
		}
		for _, spec := range general.Specs {
			spec := spec.(*ast.ValueSpec)
			if at < spec.Pos() || at > spec.End() {
				continue
			}
			inside := false
			ast.Inspect(spec, func(node ast.Node) bool {
				literal, is := node.(*ast.FuncLit)
				inside = inside || is && literal.Body.Pos() <= at && at < literal.Body.End()
				return true
			})
			if !inside {
				return f.code.info.Defs[spec.Names[0]]
			}
		}
	}
	return nil
}

// function is the one that a place is in.
func (f *editing) function(at token.Pos) types.Object {
	for _, declared := range f.source.syntax.Decls {
		if function, ok := declared.(*ast.FuncDecl); ok && function.Pos() <= at && at < function.End() {
			return f.code.info.Defs[function.Name]
		}
	}
	return nil
}

// mark notes what variants change that variables of the package may hold.
func (f *editing) mark(holder types.Object) {
	if f.again[f.code] == nil {
		f.again[f.code] = map[types.Object]bool{}
	}
	f.again[f.code][holder] = true
}

// beginAgain lets variables get their first values again, which variants change: those marked, and
// those that are made of them.
func (in *instrument) beginAgain(c *code) {
	uses := c.uses()
	var assigned []string
	for _, first := range c.info.InitOrder {
		changed := false
		for _, name := range first.Lhs {
			for holder := range in.again[c] {
				if holder != nil && (name == holder || reaches(uses, name, holder, map[types.Object]bool{})) {
					changed = true
					in.markHeld(c, holder)
				}
			}
		}
		if !changed || len(first.Lhs) != 1 || first.Lhs[0].Name() == "_" {
			continue
		}
		assigned = append(assigned, in.function(c, first))
	}
	if len(assigned) > 0 {
		file := in.files[c.sources[0].path]
		if file == nil {
			file = &edited{text: c.sources[0].text}
			in.files[c.sources[0].path] = file
		}
		file.tail += "\nfunc init() {\n\tvary.Initially(func() {\n\t\t" + strings.Join(assigned, "\n\t\t") + "\n\t})\n"
		if c.path == module+"/"+judging {
			file.tail += tellsOrder
		}
		file.tail += "}\n"
		if len(file.edits) == 0 {
			file.replace(0, 0, "")
		}
	}
}

// tellsOrder tells the order of the rules, which is all that a reason to defer decides.
const tellsOrder = `	vary.Ordered(func() (rules string) {
		for _, one := range recognisers() {
			rules += string(one.rule) + ";"
		}
		return rules
	})
`

func (in *instrument) markHeld(c *code, holder types.Object) {
	for i := range in.tables.changes {
		if change := &in.tables.changes[i]; change.in == c && change.holder == holder {
			change.again = true
		}
	}
}

// function puts a function that computes a variable's first value behind its file, and writes the
// assignment.
func (in *instrument) function(c *code, first *types.Initializer) string {
	name := first.Lhs[0].Name()
	for i := range c.sources {
		s := &c.sources[i]
		if s.syntax.FileStart > first.Rhs.Pos() || first.Rhs.Pos() > s.syntax.FileEnd {
			continue
		}
		file := in.files[s.path]
		if file == nil {
			file = &edited{text: s.text}
			in.files[s.path] = file
			file.replace(0, 0, "")
		}
		e := &editing{instrument: in, code: c, source: s, edited: file}
		value := file.between(e.offset(first.Rhs.Pos()), e.offset(first.Rhs.End()))
		file.tail += fmt.Sprintf("\nfunc first_%s() %s {\n\treturn %s\n}\n", name, e.written(first.Lhs[0].Type()), value)
	}
	return fmt.Sprintf("%s = first_%s()", name, name)
}

// uses are the objects of the package that each of its variables and functions mentions.
func (c *code) uses() map[types.Object][]types.Object {
	uses := map[types.Object][]types.Object{}
	mentioned := func(by types.Object, node ast.Node) {
		ast.Inspect(node, func(node ast.Node) bool {
			if name, ok := node.(*ast.Ident); ok {
				if used := c.info.Uses[name]; used != nil && used.Pkg() == c.types {
					uses[by] = append(uses[by], used)
				}
			}
			return true
		})
	}
	for _, s := range c.sources {
		for _, declared := range s.syntax.Decls {
			switch declared := declared.(type) {
			case *ast.FuncDecl:
				mentioned(c.info.Defs[declared.Name], declared)
			case *ast.GenDecl:
				for _, spec := range declared.Specs {
					if value, ok := spec.(*ast.ValueSpec); ok && declared.Tok == token.VAR {
						for i, name := range value.Names {
							if i < len(value.Values) {
								mentioned(c.info.Defs[name], value.Values[i])
							}
						}
					}
				}
			}
		}
	}
	return uses
}

func reaches(uses map[types.Object][]types.Object, from, to types.Object, seen map[types.Object]bool) bool {
	for _, used := range uses[from] {
		if used == to {
			return true
		}
		if !seen[used] {
			seen[used] = true
			if reaches(uses, used, to, seen) {
				return true
			}
		}
	}
	return false
}
