package recording

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// stringFields returns the numbers of the fields of a row that hold text.
func stringFields[T any]() []int {
	var fields []int
	row := reflect.TypeFor[T]()
	for i := range row.NumField() {
		if row.Field(i).Type.Kind() == reflect.String {
			fields = append(fields, i)
		}
	}
	return fields
}

// cleanStrings makes every text valid UTF-8, which Parquet's string type
// promises and process names do not keep, and refuses one that is too long.
func cleanStrings[T any](table string, rows []T) error {
	fields := stringFields[T]()
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		for _, number := range fields {
			text := row.Field(number).String()
			if len(text) > MaxStringBytes {
				return fmt.Errorf("table %s: a %s of %d bytes is longer than the limit of %d",
					table, row.Type().Field(number).Name, len(text), MaxStringBytes)
			}
			if !utf8.ValidString(text) {
				// "?" and not U+FFFD: one byte for one, so it cannot grow over the limit.
				row.Field(number).SetString(strings.ToValidUTF8(text, "?"))
			}
		}
	}
	return nil
}

// interner gives equal strings one memory: a table names few things many times.
type interner struct {
	known map[string]string
}

func internStrings[T any](in *interner, fields []int, rows []T) {
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		for _, number := range fields {
			field := row.Field(number)
			text := field.String()
			if text == "" {
				continue
			}
			shared, ok := in.known[text]
			if !ok {
				in.known[text] = text
				continue
			}
			field.SetString(shared)
		}
	}
}
