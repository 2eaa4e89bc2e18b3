package report

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// encoder writes Go values as JSON with the tags that encoding/json reads, but
// nil lists as [] and numbers that are not finite as null; encoding/json writes
// null for the first and fails on the second. Elements of lists of structs stand
// on lines of their own, so that a case can be read and compared line by line.
type encoder struct {
	out bytes.Buffer
}

func (e *encoder) value(v any) error { return e.encode(reflect.ValueOf(v), 0) }

func (e *encoder) encode(v reflect.Value, depth int) error {
	if v.IsValid() && v.CanInterface() {
		if marshaler, ok := v.Interface().(json.Marshaler); ok {
			return e.foreign(marshaler)
		}
		if _, ok := v.Interface().(encoding.TextMarshaler); ok {
			return e.foreign(v.Interface())
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.out.WriteString("null")
			return nil
		}
		return e.encode(v.Elem(), depth)
	case reflect.Struct:
		return e.object(v, depth)
	case reflect.Slice, reflect.Array:
		return e.list(v, depth)
	case reflect.Map:
		return e.mapping(v, depth)
	case reflect.Float32, reflect.Float64:
		e.number(v.Float(), v.Type().Bits())
		return nil
	case reflect.String:
		return e.foreign(v.String())
	case reflect.Bool:
		e.out.WriteString(strconv.FormatBool(v.Bool()))
		return nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.out.WriteString(strconv.FormatInt(v.Int(), 10))
		return nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.out.WriteString(strconv.FormatUint(v.Uint(), 10))
		return nil
	}
	return fmt.Errorf("encode %s: not a JSON value", v.Kind())
}

func (e *encoder) foreign(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %T: %w", v, err)
	}
	e.out.Write(text)
	return nil
}

func (e *encoder) number(value float64, bits int) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		e.out.WriteString("null")
		return
	}
	format := byte('f')
	if size := math.Abs(value); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	e.out.Write(strconv.AppendFloat(nil, value, format, -1, bits))
}

// field is a struct field with its name in the document.
type field struct {
	index int
	name  string
	// omitted tells the values that are left out; nil where none is.
	omitted func(reflect.Value) bool
}

func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if !f.IsExported() || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = f.Name
		}
		fields = append(fields, field{i, name, omission(options)})
	}
	return fields
}

// omission is what encoding/json leaves out: of a slice that is empty "omitzero" leaves out only
// nil.
func omission(options string) func(reflect.Value) bool {
	switch options {
	case "omitempty":
		return empty
	case "omitzero":
		return reflect.Value.IsZero
	}
	return nil
}

func (e *encoder) object(v reflect.Value, depth int) error {
	e.out.WriteByte('{')
	first := true
	for _, f := range fieldsOf(v.Type()) {
		value := v.Field(f.index)
		if f.omitted != nil && f.omitted(value) {
			continue
		}
		if !first {
			e.out.WriteByte(',')
		}
		first = false
		if depth == 0 {
			e.out.WriteByte('\n')
		}
		e.out.WriteString(strconv.Quote(f.name) + ":")
		if err := e.encode(value, depth+1); err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	if depth == 0 {
		e.out.WriteByte('\n')
	}
	e.out.WriteByte('}')
	return nil
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func (e *encoder) list(v reflect.Value, depth int) error {
	lines := v.Type().Elem().Kind() == reflect.Struct && v.Len() > 0
	e.out.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if lines {
			e.out.WriteByte('\n')
		}
		if err := e.encode(v.Index(i), depth+1); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	if lines {
		e.out.WriteByte('\n')
	}
	e.out.WriteByte(']')
	return nil
}

func (e *encoder) mapping(v reflect.Value, depth int) error {
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("encode map: keys are %s, not strings", v.Type().Key())
	}
	keys := v.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	e.out.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := e.foreign(key.String()); err != nil {
			return err
		}
		e.out.WriteByte(':')
		if err := e.encode(v.MapIndex(key), depth+1); err != nil {
			return fmt.Errorf("key %s: %w", visible(key.String(), 80), err)
		}
	}
	e.out.WriteByte('}')
	return nil
}
