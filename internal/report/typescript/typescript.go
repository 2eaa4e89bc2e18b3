// Package typescript declares in TypeScript what Go writes as JSON, so that the page and the
// program cannot come to differ: tests compare what it says with the files in web/src/api.
package typescript

import (
	"fmt"
	"path"
	"reflect"
	"strings"
	"time"
)

// Of returns the interfaces of the given values' types and of all that they hold, each once.
func Of(types []any) string {
	d := declared{names: map[reflect.Type]string{}, texts: map[string]string{}}
	for _, v := range types {
		d.declare(reflect.TypeOf(v))
	}
	text := "// Code generated from the Go types by `go generate`; DO NOT EDIT.\n" +
		"// A number is null where it is not finite.\n"
	for _, name := range d.order {
		text += "\n" + d.texts[name]
	}
	return text
}

// declared are the interfaces so far, in an order in which each stands behind those that it holds.
type declared struct {
	names map[reflect.Type]string
	texts map[string]string
	order []string
}

// declare returns the name of a type's interface. Where another package has one of that name, the
// package's stands before it.
func (d *declared) declare(t reflect.Type) string {
	if name, done := d.names[t]; done {
		return name
	}
	name := upper(t.Name())
	if _, taken := d.texts[name]; taken {
		name = upper(path.Base(t.PkgPath())) + name
	}
	d.names[t], d.texts[name] = name, ""
	text := fmt.Sprintf("export interface %s {\n", name)
	text += d.members(t)
	d.texts[name] = text + "}\n"
	d.order = append(d.order, name)
	return name
}

func upper(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// members are the fields as encoding/json names them; those of an embedded struct are the outer
// one's.
func (d *declared) members(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text := ""
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-" && options == "":
			continue
		case f.Anonymous && name == "":
			text += d.members(f.Type)
			continue
		case name == "":
			name = f.Name
		}
		optional := ""
		if strings.HasPrefix(options, "omit") {
			optional = "?"
		}
		text += fmt.Sprintf("  %s%s: %s;\n", name, optional, d.typeName(f.Type))
	}
	return text
}

func (d *declared) typeName(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.typeName(t.Elem())
	case reflect.Struct:
		return d.declare(t)
	case reflect.Slice:
		element := d.typeName(t.Elem())
		if strings.Contains(element, " ") {
			element = "(" + element + ")"
		}
		return element + "[]"
	case reflect.Map:
		return "Record<string, " + d.typeName(t.Elem()) + ">"
	case reflect.Float32, reflect.Float64:
		return "number | null"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	}
	return "number"
}
