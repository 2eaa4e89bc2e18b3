package jfr

import (
	"fmt"
	"strconv"
)

// class is the type of an event or of a value in it.
type class struct {
	name      string
	fields    []field
	primitive byte // size: 1, 2, 4, 8; 'f', 'd': floating point; 's': a text; 0: none
}

// field is a part of a class.
type field struct {
	name     string
	class    int64
	constant bool // its value is the number of a constant
	array    bool
	ns       float64 // of one unit of time; 0: no time; −1: ticks
}

// element is a part of the description of the types.
type element struct {
	name       string
	attributes map[string]string
	children   []element
}

// The names of types that are not made of others, with how they are written.
var primitives = map[string]byte{"boolean": 1, "byte": 1, "short": 2, "char": 2, "int": 4, "long": 8,
	"float": 'f', "double": 'd', "java.lang.String": 's'}

// readMetadata reads the description of the types.
func (c *Chunk) readMetadata(at int64) error {
	if at < headBytes || at >= int64(len(c.data)) {
		return fmt.Errorf("%w: its types are not where it says", errFormat)
	}
	r := &reader{c: c, at: int(at)}
	r.number() // size
	if r.number() != 0 {
		return fmt.Errorf("%w: its types are not where it says", errFormat)
	}
	r.number() // start
	r.number() // duration
	r.number() // id
	count := r.count()
	if count > maxStrings {
		return fmt.Errorf("%w: %d names of types", errFormat, count)
	}
	texts := make([]string, 0, count)
	for range count {
		texts = append(texts, r.text())
	}
	left := maxClasses * 8
	root := r.element(texts, 0, &left)
	if r.err != nil {
		return r.err
	}
	c.describe(&root, 0)
	for id, of := range c.classes {
		of.primitive = primitives[of.name]
		if of.primitive == 's' {
			c.texts = id
		}
	}
	return nil
}

func (r *reader) element(texts []string, depth int, left *int) element {
	if *left--; *left < 0 || depth > maxDepth {
		r.fail(errSteps)
		return element{}
	}
	named := func() string {
		if at := r.number(); at >= 0 && at < int64(len(texts)) {
			return texts[at]
		}
		r.fail(errFormat)
		return ""
	}
	made := element{name: named(), attributes: map[string]string{}}
	for count := r.count(); count > 0 && r.err == nil; count-- {
		key := named()
		made.attributes[key] = named()
	}
	for count := r.count(); count > 0 && r.err == nil; count-- {
		made.children = append(made.children, r.element(texts, depth+1, left))
	}
	return made
}

// describe takes the classes out of the elements.
func (c *Chunk) describe(of *element, depth int) {
	if of.name != "class" {
		for i := range of.children {
			c.describe(&of.children[i], depth+1)
		}
		return
	}
	id, err := strconv.ParseInt(of.attributes["id"], 10, 64)
	if err != nil || len(c.classes) >= maxClasses {
		return
	}
	made := &class{name: of.attributes["name"]}
	for i := range of.children {
		if child := &of.children[i]; child.name == "field" {
			one := field{name: child.attributes["name"], constant: child.attributes["constantPool"] == "true",
				array: child.attributes["dimension"] == "1"}
			one.class, _ = strconv.ParseInt(child.attributes["class"], 10, 64) // an unknown one shows when it is read
			for j := range child.children {
				if unit, is := units[child.children[j].attributes["value"]]; is {
					one.ns = unit
				}
			}
			made.fields = append(made.fields, one)
		}
	}
	c.classes[id] = made
}

// The units of the annotations Timespan and Timestamp.
var units = map[string]float64{"TICKS": -1, "NANOSECONDS": 1, "MICROSECONDS": 1e3, "MILLISECONDS": 1e6, "SECONDS": 1e9}
