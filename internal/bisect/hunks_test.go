package bisect

import (
	"strings"
	"testing"

	"culprit/internal/cause"
)

func TestFrames(t *testing.T) {
	for name, want := range map[string]frame{
		"emit":                          {function: "emit"},
		"Sheet.cells":                   {function: "cells", class: "Sheet"},
		"<module> pyparsing/helpers.py": {},
		"cells reader.py:41":            {function: "cells", file: "reader.py"},
		"github.com/x/table.(*Sheet).cells.func1": {function: "cells", class: "Sheet"},
		"main.main": {function: "main"},
		"<table::Sheet as Rows>::cells::{{closure}}":       {function: "cells"},
		"table::sheet::cells::h0123456789abcdef":           {function: "cells"},
		"void reader::Sheet::cells<int>(int, char const*)": {function: "cells", class: "Sheet"},
		"org/example/Sheet.cells(I)V":                      {function: "cells", class: "Sheet"},
		"<anonymous>":                                      {},
	} {
		if got := frameOf(name); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}

const pythonBefore = `class Row:
    def cells(self):
        return 1

class Sheet:
    """A sheet."""
    def cells(self):
        return [c
                for c in self.all]

    def close(self):
        pass

def cells():
    pass
`

func TestDefinitions(t *testing.T) {
	check := func(text, file string, one frame, want ...span) {
		t.Helper()
		got := definitions(text, file, one)
		if len(got) != len(want) {
			t.Errorf("%s in %s: %v, want %v", one, file, got, want)
			return
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s in %s: %v, want %v", one, file, got, want)
			}
		}
	}
	check(pythonBefore, "a.py", frame{function: "cells", class: "Sheet"}, span{7, 9})
	check(pythonBefore, "a.py", frame{function: "close"}, span{11, 12})
	check(pythonBefore, "lib/a.py", frame{function: "close", file: "a.py"}, span{11, 12})
	check(pythonBefore, "lib/a.py", frame{function: "close", file: "b.py"})
	check("int cells(int n);\n\nint\ncells(int n)\n{\n\treturn n;\n}\nint x = cells(1);\n", "a.c",
		frame{function: "cells"},
		span{4, 7})
	check("func (s *Sheet) cells() {\n\treturn\n}\n\nfunc cells() {\n}\n", "a.go", frame{function: "cells",
		class: "Sheet"},
		span{1, 3})
	check("impl Sheet {\n    pub fn cells(&self) -> u8 {\n        1\n    }\n}\n", "a.rs", frame{function: "cells",
		class: "Sheet"},
		span{2, 4})
	check("class Sheet {\n  cells(a) {\n    return 1;\n  }\n}\nsheet.cells(1);\nconst other = (a) => {\n  1;\n};\n",
		"a.mjs",
		frame{function: "cells", class: "Sheet"}, span{2, 4})
	check("const other = (a) => {\n  1;\n};\nother(1);\n", "a.js", frame{function: "other"}, span{1, 3})
	check("class Sheet {\n    public int cells(int a)\n    {\n        return cells(a);\n    }\n}\n", "Sheet.java",
		frame{function: "cells", class: "Sheet"}, span{2, 5})
}

func places(names ...string) []cause.Suspect {
	var list []cause.Place
	for _, name := range names {
		list = append(list, cause.Place{Kind: cause.InCode, Name: name})
	}
	return []cause.Suspect{{Places: list}}
}

// Of a diff the hunks are told that change a grown function, cut to it.
func TestHunksThatTouch(t *testing.T) {
	folder, run := repository(t)
	after := strings.Replace(pythonBefore, "        return [c\n", "        self.sort()\n        return [c\n", 1)
	after = strings.Replace(after, "return 1", "return 2", 1) + "    close(1)\n"
	commit(t, folder, run, "before", map[string]string{"lib/a.py": pythonBefore, "with blank.txt": "1\n"})
	commit(t, folder, run, "after", map[string]string{"lib/a.py": after, "with blank.txt": "2\n",
		"new.py": "def cells():\n    1\n"})
	hunks := parseDiff(run("diff", "HEAD~1", "HEAD"))
	files := map[string]bool{}
	for _, hunk := range hunks {
		files[hunk.File] = true
	}
	if !files["lib/a.py"] || !files["with blank.txt"] || !files["new.py"] || len(files) != 3 {
		t.Fatalf("files %v", files)
	}
	read := func(hunk Hunk) (string, string) {
		if hunk.File != "lib/a.py" {
			return "", ""
		}
		return pythonBefore, after
	}
	grown := frames(places("<module> a.py;main;Sheet.cells"))[0]
	found := touching(hunks, grown, read)
	if len(found) != 1 || found[0].File != "lib/a.py" || found[0].Line != 7 || !strings.Contains(found[0].Text,
		"+        self.sort()") ||
		strings.Contains(found[0].Text, "return 2") || found[0].Function != "Sheet.cells" {
		t.Errorf("%+v", found)
	}
	if found := touching(hunks, frame{function: "close"}, read); len(found) != 0 {
		t.Errorf("close has not changed, but %+v", found)
	}
	if found := calling(hunks, []frame{{function: "close"}}); len(found) != 1 || found[0].Touches != "call" {
		t.Errorf("close is called more, but %+v", found)
	}
}

// A function that went is told by the lines that went.
func TestHunksOfARemovedFunction(t *testing.T) {
	folder, run := repository(t)
	commit(t, folder, run, "before", map[string]string{"a.py": "def cached():\n    return 1\n\ndef other():\n    pass\n"})
	commit(t, folder, run, "after", map[string]string{"a.py": "def other():\n    pass\n"})
	hunks := parseDiff(run("diff", "HEAD~1", "HEAD"))
	found := touching(hunks, frame{function: "cached"}, func(Hunk) (string, string) {
		return "def cached():\n    return 1\n\ndef other():\n    pass\n", "def other():\n    pass\n"
	})
	if len(found) != 1 || !strings.Contains(found[0].Text, "-def cached():") || strings.Contains(found[0].Text, "other") {
		t.Errorf("%+v", found)
	}
}
