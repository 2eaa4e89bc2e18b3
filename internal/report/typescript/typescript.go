// Package typescript declares in TypeScript what Go writes as JSON, so that the page and the program cannot come to
// differ: tests compare what it says with the files in web/src/api.
package typescript

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Of returns the interfaces of the given values' types and of all that they hold, each once.
func Of(types []any) string {
	var order []string
	interfaces := map[string]string{}
	for _, v := range types {
		declare(reflect.TypeOf(v), interfaces, &order)
	}
	text := "// Code generated from the Go types by `go generate`; DO NOT EDIT.\n" +
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
	text += members(t, interfaces, order)
	interfaces[name] = text + "}\n"
	*order = append(*order, name)
}

// members are the fields as encoding/json names them; those of an embedded struct are the outer one's.
func members(t reflect.Type, interfaces map[string]string, order *[]string) string {
	text := ""
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-" && options == "":
			continue
		case f.Anonymous && name == "":
			text += members(f.Type, interfaces, order)
			continue
		case name == "":
			name = f.Name
		}
		optional := ""
		if strings.HasPrefix(options, "omit") {
			optional = "?"
		}
		text += fmt.Sprintf("  %s%s: %s;\n", name, optional, typeName(f.Type, interfaces, order))
	}
	return text
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
