"""Lists the functions of C sources, and how many calls each makes."""
from pycparser import c_ast, c_parser


class Calls(c_ast.NodeVisitor):
    """Counts calls."""

    def __init__(self):
        self.count = 0

    def visit_FuncCall(self, node):
        self.count += 1
        self.generic_visit(node)


calls = {}
for file in range(3):
    text = "".join(
        f"int f{file}_{i}(int a, char *b) {{ int x = a * {i} + 3; for (x = 0; x < 10; x++) "
        f"{{ if (b[x] == 'c') return g(x); }} return h(x, g(a)); }}\n" for i in range(230))
    for part in c_parser.CParser().parse(text, f"file{file}.c").ext:
        visitor = Calls()
        visitor.visit(part)
        calls[part.decl.name] = visitor.count
print(len(calls), sum(calls.values()))
