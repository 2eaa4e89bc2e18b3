package ablate

import "go/ast"

// rowType is a struct type that makes a table one of rules: it has a field that is a Rule, or a
// function.
type rowType struct {
	field   string // the first one that is a function, "" for none
	index   int    // of it, where an element names no fields
	nothing string // a function of that type that does nothing
}

// rowTypes are those of a package by name.
func rowTypes(sources []source) map[string]rowType {
	types := map[string]rowType{}
	for i := range sources {
		s := &sources[i]
		ast.Inspect(s.syntax, func(node ast.Node) bool {
			declared, ok := node.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := declared.Type.(*ast.StructType); ok {
				if row, is := s.rowType(fields); is {
					types[declared.Name.Name] = row
				}
			}
			return true
		})
	}
	return types
}

func (s *source) rowType(fields *ast.StructType) (row rowType, is bool) {
	index := 0
	for _, field := range fields.Fields.List {
		for _, name := range field.Names {
			if function, ok := field.Type.(*ast.FuncType); ok && row.field == "" {
				row, is = rowType{name.Name, index, s.doesNothing(function)}, true
			}
			index++
		}
		is = is || isRule(field.Type)
	}
	return row, is
}

// isRule reports whether a type is Rule, or a list of them.
func isRule(of ast.Expr) bool {
	if list, ok := of.(*ast.ArrayType); ok {
		of = list.Elt
	}
	name, ok := of.(*ast.Ident)
	return ok && name.Name == "Rule"
}

// doesNothing writes a function of that type that returns zero values.
func (s *source) doesNothing(of *ast.FuncType) string {
	text := "func" + s.textOf(of.Params)
	if of.Results == nil {
		return text + " {}"
	}
	text += " ("
	for i, result := range of.Results.List {
		if i > 0 {
			text += ", "
		}
		if len(result.Names) == 0 {
			text += "_ "
		}
		text += s.textOf(result)
	}
	return text + ") { return }"
}

// does is the function of an element, nil where it has none.
func (r rowType) does(element ast.Expr) ast.Expr {
	row, ok := element.(*ast.CompositeLit)
	if !ok || r.field == "" {
		return nil
	}
	for i, value := range row.Elts {
		if pair, keyed := value.(*ast.KeyValueExpr); keyed {
			if name, ok := pair.Key.(*ast.Ident); ok && name.Name == r.field {
				return pair.Value
			}
		} else if i == r.index {
			return value
		}
	}
	return nil
}

// elementType is the name of the type of a list's elements, "" where it has none.
func elementType(table *ast.CompositeLit) string {
	if list, ok := table.Type.(*ast.ArrayType); ok {
		if name, ok := list.Elt.(*ast.Ident); ok {
			return name.Name
		}
	}
	return ""
}
