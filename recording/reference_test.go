package recording

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Every column of every table, and every field of the manifest, is explained in docs/reference.
func TestReferenceIsComplete(t *testing.T) {
	text := reference(t)
	for _, tag := range []string{"json", "parquet"} {
		for at, name := range tagsOf(tag, reflect.TypeFor[Recording](), "", map[reflect.Type]bool{}) {
			if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, `"`+name+`"`) &&
				!strings.Contains(text, "."+name+"`") {
				t.Errorf("docs/reference does not say what %s (%s) is", name, at)
			}
		}
	}
}

// reference is the text of all pages.
func reference(t *testing.T) string {
	pages, err := filepath.Glob("../docs/reference/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages below docs/reference: %v", err)
	}
	var all strings.Builder
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// tagsOf lists the names that a type's fields have in files, by where they are.
func tagsOf(tag string, of reflect.Type, at string, known map[reflect.Type]bool) map[string]string {
	names := map[string]string{}
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || known[of] || of.PkgPath() != reflect.TypeFor[Recording]().PkgPath() {
		return names
	}
	known[of] = true
	for i := range of.NumField() {
		field := of.Field(i)
		path := at + "." + field.Name
		if name, _, _ := strings.Cut(field.Tag.Get(tag), ","); name != "" && name != "-" {
			names[path] = name
		}
		for inner, name := range tagsOf(tag, field.Type, path, known) {
			names[inner] = name
		}
	}
	return names
}
