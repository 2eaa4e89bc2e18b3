package report

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"culprit/internal/investigate"
)

var update = flag.Bool("update", false, "write the golden files and the page's types anew")

// TestTypeScriptTypes keeps the page's types the same as those of the document, and of what the
// page gets beside it.
func TestTypeScriptTypes(t *testing.T) {
	for file, types := range map[string][]any{
		"case.ts": {investigate.Case{}},
		"page.ts": {verdict{}, columns{}},
	} {
		path, want := "../../web/src/api/"+file, typescript(types)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the Go types say: run go generate ./internal/report, then make generate",
				path)
		}
	}
}

func typescript(types []any) string {
	var order []string
	interfaces := map[string]string{}
	for _, v := range types {
		declare(reflect.TypeOf(v), interfaces, &order)
	}
	text := "// Code generated from the Go types by `go generate ./internal/report`; DO NOT EDIT.\n" +
		"// A number is null where it is not finite.\n"
	for _, name := range order {
		text += "\n" + interfaces[name]
	}
	return text
}

func declare(t reflect.Type, interfaces map[string]string, order *[]string) {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if _, done := interfaces[name]; done {
		return
	}
	interfaces[name] = ""
	text := fmt.Sprintf("export interface %s {\n", name)
	for _, f := range fieldsOf(t) {
		optional := ""
		if f.omitted != nil {
			optional = "?"
		}
		kind := typeName(t.Field(f.index).Type, interfaces, order)
		text += fmt.Sprintf("  %s%s: %s;\n", f.name, optional, kind)
	}
	interfaces[name] = text + "}\n"
	*order = append(*order, name)
}

func typeName(t reflect.Type, interfaces map[string]string, order *[]string) string {
	if t == reflect.TypeFor[time.Time]() {
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem(), interfaces, order)
	case reflect.Struct:
		declare(t, interfaces, order)
		return strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	case reflect.Slice:
		element := typeName(t.Elem(), interfaces, order)
		if strings.Contains(element, " ") {
			element = "(" + element + ")"
		}
		return element + "[]"
	case reflect.Map:
		return "Record<string, " + typeName(t.Elem(), interfaces, order) + ">"
	case reflect.Float32, reflect.Float64:
		return "number | null"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	}
	return "number"
}
