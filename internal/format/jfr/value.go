package jfr

import (
	"math"
	"strings"
	"unicode/utf16"
)

// Event is one event of a chunk.
type Event struct {
	Class string
	ID    int64 // of the class, which settings name
	value Value
}

// Field is a value of the event; one that is not there is none.
func (e Event) Field(name string) Value { return e.value.Field(name) }

// Value is a place in a chunk with the type of what stands there. The zero value is none.
type Value struct {
	c     *Chunk
	of    *class
	at    int
	array bool
	ns    float64
	key   int64
}

// Key is the number of a constant, 0 of what is none.
func (v Value) Key() int64 { return v.key }

// Is says whether there is a value.
func (v Value) Is() bool { return v.c != nil }

// Field is a part of a value, none where it has no such part.
func (v Value) Field(name string) Value {
	if v.c == nil || v.array {
		return Value{}
	}
	r := &reader{c: v.c, at: v.at}
	for i := range v.of.fields {
		one := &v.of.fields[i]
		if one.name == name {
			return r.value(one)
		}
		if r.skipField(one, 0); r.err != nil {
			return Value{}
		}
	}
	return Value{}
}

// value is what stands at the reader's place.
func (r *reader) value(of *field) Value {
	made := Value{c: r.c, of: r.c.classes[of.class], at: r.at, array: of.array, ns: of.ns}
	if made.of == nil {
		return Value{}
	}
	if of.constant && !of.array {
		key := r.number()
		at, known := r.c.constants[of.class][key]
		if r.err != nil || !known {
			return Value{}
		}
		made.at, made.key = at, key
	}
	return made
}

// Each calls use with the elements of an array, until it returns false.
func (v Value) Each(use func(Value) bool) {
	if v.c == nil || !v.array {
		return
	}
	r := &reader{c: v.c, at: v.at}
	for count := r.count(); count > 0 && r.err == nil; count-- {
		if !use(Value{c: v.c, of: v.of, at: r.at}) {
			return
		}
		r.skipClass(v.of, 0)
	}
}

// Int is a whole number, 0 of anything else.
func (v Value) Int() int64 {
	if v.c == nil || v.array {
		return 0
	}
	r := &reader{c: v.c, at: v.at}
	switch size := v.of.primitive; size {
	case 1, 2, 4, 8:
		return r.whole(size)
	}
	return 0
}

// Ns is a time or a length of time in ns: of an event's start since the chunk began.
func (v Value) Ns() int64 {
	switch {
	case v.c == nil:
		return 0
	case v.ns < 0:
		return v.c.span(v.Int())
	case v.ns == 0:
		return v.Int()
	}
	return int64(max(math.MinInt64/2, min(math.MaxInt64/2, float64(v.Int())*v.ns)))
}

// Text is a text, also one that is the only part of a value; "" of anything else.
func (v Value) Text() string {
	if v.c == nil || v.array {
		return ""
	}
	r := &reader{c: v.c, at: v.at}
	if v.of.primitive == 's' {
		return r.text()
	}
	if len(v.of.fields) == 1 && v.of.primitive == 0 {
		if inner := r.value(&v.of.fields[0]); inner.Is() && inner.of.primitive == 's' && !inner.array {
			return (&reader{c: inner.c, at: inner.at}).text()
		}
	}
	return ""
}

// reader reads from a place on. After an error it reads nothing.
type reader struct {
	c   *Chunk
	at  int
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) bytes(count int64) []byte {
	if r.err != nil || count < 0 || count > int64(len(r.c.data)-r.at) {
		r.fail(errCut)
		return nil
	}
	from := r.at
	r.at += int(count)
	return r.c.data[from:r.at]
}

// number reads a whole number, of which each byte but a ninth has seven bits.
func (r *reader) number() int64 {
	var value uint64
	for i := range 9 {
		part := r.bytes(1)
		if part == nil {
			return 0
		}
		if i == 8 {
			return int64(value | uint64(part[0])<<56)
		}
		value |= uint64(part[0]&0x7f) << (7 * i)
		if part[0] < 0x80 {
			break
		}
	}
	return int64(value)
}

// count reads a number of things of which each takes a byte at least.
func (r *reader) count() int64 {
	count := r.number()
	if count < 0 || count > int64(len(r.c.data)-r.at) {
		r.fail(errCut)
		return 0
	}
	return count
}

func (r *reader) whole(size byte) int64 {
	if size == 1 {
		if part := r.bytes(1); part != nil {
			return int64(int8(part[0]))
		}
		return 0
	}
	return r.number()
}

// text reads a text in any of its encodings; one that is a constant is looked up.
func (r *reader) text() string {
	kind := r.bytes(1)
	if kind == nil {
		return ""
	}
	switch kind[0] {
	case 0, 1:
		return ""
	case 2:
		key := r.number()
		if at, known := r.c.constants[r.c.texts][key]; known && r.c.data[at] != 2 {
			return (&reader{c: r.c, at: at}).text()
		}
		return ""
	case 3:
		return strings.ToValidUTF8(string(r.bytes(r.number())), "?")
	case 4:
		letters := make([]uint16, 0, 16)
		for count := r.count(); count > 0 && r.err == nil; count-- {
			letters = append(letters, uint16(r.number()))
		}
		return string(utf16.Decode(letters))
	case 5:
		latin := r.bytes(r.number())
		letters := make([]rune, len(latin))
		for i, letter := range latin {
			letters[i] = rune(letter)
		}
		return string(letters)
	}
	r.fail(errFormat)
	return ""
}

// skipText passes a text without making it.
func (r *reader) skipText() {
	kind := r.bytes(1)
	if kind == nil {
		return
	}
	switch kind[0] {
	case 0, 1:
	case 2:
		r.number()
	case 3, 5:
		r.bytes(r.number())
	case 4:
		for count := r.count(); count > 0 && r.err == nil; count-- {
			r.number()
		}
	default:
		r.fail(errFormat)
	}
}

func (r *reader) skipField(of *field, depth int) {
	count := int64(1)
	if of.array {
		count = r.count()
	}
	inner := r.c.classes[of.class]
	for ; count > 0 && r.err == nil; count-- {
		if of.constant {
			r.number()
		} else {
			r.skipClass(inner, depth+1)
		}
	}
}

func (r *reader) skipClass(of *class, depth int) {
	if r.c.steps--; r.c.steps < 0 || depth > maxDepth {
		r.fail(errSteps)
		return
	}
	if of == nil {
		r.fail(errFormat)
		return
	}
	switch of.primitive {
	case 0:
		for i := range of.fields {
			if r.skipField(&of.fields[i], depth); r.err != nil {
				return
			}
		}
	case 's':
		r.skipText()
	case 'f':
		r.bytes(4)
	case 'd':
		r.bytes(8)
	default:
		r.whole(of.primitive)
	}
}
