package ablate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// numbers evaluates constants as they are, and as they are with one of them changed.
type numbers struct {
	packages map[string]*code
	declared map[types.Object]declaration // constants with an expression of their own
	known    map[types.Object]map[types.Object]bool
	places   map[place]types.Object // of constants
}

// place is where a name stands.
type place struct {
	file   string
	offset int
}

// at is the constant whose name stands at a place.
func (n *numbers) at(file string, offset int) types.Object { return n.places[place{file, offset}] }

// declaration is how a constant is declared.
type declaration struct {
	in    *code
	value ast.Expr
}

func newNumbers(packages []*code) *numbers {
	n := &numbers{map[string]*code{}, map[types.Object]declaration{}, map[types.Object]map[types.Object]bool{},
		map[place]types.Object{}}
	for _, c := range packages {
		n.packages[c.path] = c
		for _, s := range c.sources {
			ast.Inspect(s.syntax, func(node ast.Node) bool {
				if spec, ok := node.(*ast.ValueSpec); ok {
					for i, name := range spec.Names {
						if object, is := c.info.Defs[name].(*types.Const); is && i < len(spec.Values) {
							n.declared[object] = declaration{c, spec.Values[i]}
							n.places[place{s.path, s.files.Position(name.Pos()).Offset}] = object
						}
					}
				}
				return true
			})
		}
	}
	return n
}

// object is the constant that a name stands for: the declared one also where another package reads
// it from what the compiler wrote.
func (n *numbers) object(c *code, name *ast.Ident) types.Object {
	object, is := c.info.Uses[name].(*types.Const)
	if !is {
		return nil
	}
	if object.Pkg() == nil || object.Pkg() == c.types {
		return object
	}
	if from := n.packages[object.Pkg().Path()]; from != nil {
		return from.types.Scope().Lookup(object.Name())
	}
	return object
}

// made are the constants that an expression is made of, directly or by way of others.
func (n *numbers) made(c *code, of ast.Expr) map[types.Object]bool {
	from := map[types.Object]bool{}
	ast.Inspect(of, func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		if !ok {
			return true
		}
		object := n.object(c, name)
		if object == nil {
			return true
		}
		from[object] = true
		if d, is := n.declared[object]; is {
			if n.known[object] == nil {
				n.known[object] = n.made(d.in, d.value)
			}
			for other := range n.known[object] {
				from[other] = true
			}
		}
		return true
	})
	return from
}

// with evaluates a constant expression where one constant has another value, nil where it cannot.
func (n *numbers) with(c *code, e ast.Expr, changed types.Object, is constant.Value) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return c.info.Types[e].Value
	case *ast.ParenExpr:
		return n.with(c, e.X, changed, is)
	case *ast.SelectorExpr:
		return n.named(c, e.Sel, changed, is)
	case *ast.Ident:
		return n.named(c, e, changed, is)
	case *ast.UnaryExpr:
		if x := n.with(c, e.X, changed, is); x != nil {
			return constant.UnaryOp(e.Op, x, 0)
		}
	case *ast.BinaryExpr:
		x, y := n.with(c, e.X, changed, is), n.with(c, e.Y, changed, is)
		if e.Op == token.QUO && x != nil && y != nil && isInteger(c.info.TypeOf(e)) {
			x, y = constant.ToInt(x), constant.ToInt(y)
		}
		return operate(e.Op, x, y)
	case *ast.CallExpr:
		if c.info.Types[e.Fun].IsType() && len(e.Args) == 1 {
			return converted(n.with(c, e.Args[0], changed, is), c.info.TypeOf(e))
		}
	}
	return nil
}

func (n *numbers) named(c *code, name *ast.Ident, changed types.Object, is constant.Value) constant.Value {
	object := n.object(c, name)
	switch d, ours := n.declared[object]; {
	case object == nil:
		return nil
	case object == changed:
		return converted(is, object.Type())
	case ours:
		return converted(n.with(d.in, d.value, changed, is), object.Type())
	}
	return object.(*types.Const).Val()
}

// converted is a value as one of a type; untyped constants stay what they are.
func converted(value constant.Value, to types.Type) constant.Value {
	basic, ok := to.Underlying().(*types.Basic)
	switch {
	case value == nil || !ok:
		return nil
	case basic.Info()&types.IsUntyped != 0:
		return value
	case basic.Info()&types.IsInteger != 0:
		value = constant.ToInt(value)
	default:
		value = constant.ToFloat(value)
	}
	if value.Kind() == constant.Unknown {
		return nil
	}
	return value
}

func isInteger(of types.Type) bool {
	basic, ok := of.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// changed is a constant that is quarters/4 of its value: what scaled writes.
func changedBy(value constant.Value, quarters int) constant.Value {
	by, four := constant.MakeInt64(int64(quarters)), constant.MakeInt64(4)
	if value.Kind() != constant.Int {
		return constant.BinaryOp(constant.BinaryOp(value, token.MUL, by), token.QUO, constant.ToFloat(four))
	}
	if whole, exact := constant.Int64Val(value); exact && max(whole, -whole) < fewest {
		return constant.BinaryOp(value, token.ADD, constant.MakeInt64(int64(quarters-4)))
	}
	return constant.BinaryOp(constant.BinaryOp(value, token.QUO_ASSIGN, four), token.MUL, by)
}
