package ablate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"time"
)

// units are the constants of other packages that thresholds are made of.
var units = map[string]time.Duration{"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond,
	"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}

// constants are the numeric constants of a package by name. Those of functions count as well: a
// name that stands for two of them means either.
func constants(sources []source) map[string]constant.Value {
	known := map[string]constant.Value{}
	for again := true; again; { // constants may stand before what they are made of
		again = false
		for _, s := range sources {
			ast.Inspect(s.syntax, func(node ast.Node) bool {
				declaration, ok := node.(*ast.GenDecl)
				if !ok || declaration.Tok != token.CONST {
					return true
				}
				for _, spec := range declaration.Specs {
					spec := spec.(*ast.ValueSpec)
					for i, name := range spec.Names {
						if i >= len(spec.Values) || known[name.Name] != nil {
							continue
						}
						if value := evaluate(spec.Values[i], known); value != nil {
							known[name.Name], again = value, true
						}
					}
				}
				return true
			})
		}
	}
	return known
}

// evaluate computes a numeric constant, nil where it is none or not known, as with iota.
func evaluate(expression ast.Expr, known map[string]constant.Value) constant.Value {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind == token.INT || e.Kind == token.FLOAT {
			return constant.MakeFromLiteral(e.Value, e.Kind, 0)
		}
	case *ast.ParenExpr:
		return evaluate(e.X, known)
	case *ast.Ident:
		return known[e.Name]
	case *ast.UnaryExpr:
		if value := evaluate(e.X, known); value != nil {
			return constant.UnaryOp(e.Op, value, 0)
		}
	case *ast.BinaryExpr:
		return operate(e.Op, evaluate(e.X, known), evaluate(e.Y, known))
	case *ast.SelectorExpr:
		if name, ok := e.X.(*ast.Ident); ok && name.Name == "time" && units[e.Sel.Name] > 0 {
			return constant.MakeInt64(int64(units[e.Sel.Name]))
		}
	}
	return nil
}

func operate(op token.Token, x, y constant.Value) constant.Value {
	if x == nil || y == nil {
		return nil
	}
	switch op {
	case token.SHL, token.SHR:
		by, exact := constant.Uint64Val(y)
		if !exact || by > 62 {
			return nil
		}
		return constant.Shift(constant.ToInt(x), op, uint(by))
	case token.QUO:
		if constant.Sign(y) == 0 {
			return nil
		}
		if x.Kind() == constant.Int && y.Kind() == constant.Int {
			op = token.QUO_ASSIGN // division of whole numbers
		}
	case token.ADD, token.SUB, token.MUL:
	default:
		return nil
	}
	return constant.BinaryOp(x, op, y)
}
