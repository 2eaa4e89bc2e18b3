package format

import (
	"slices"

	"culprit/recording"
)

// firefoxShared are the tables that all threads of a profile refer to, column by column.
type firefoxShared struct {
	Stacks    firefoxStacks    `json:"stackTable"`
	Frames    firefoxFrames    `json:"frameTable"`
	Functions firefoxFunctions `json:"funcTable"`
	Resources firefoxResources `json:"resourceTable"`
	Symbols   firefoxSymbols   `json:"nativeSymbols"`
	Sources   firefoxSources   `json:"sources"`
	Texts     []string         `json:"stringArray"`
}

type firefoxStacks struct {
	Length int    `json:"length"`
	Frame  []int  `json:"frame"`
	Prefix []*int `json:"prefix"`
}

type firefoxFrames struct {
	Length      int    `json:"length"`
	Address     []int  `json:"address"` // -1: none
	InlineDepth []int  `json:"inlineDepth"`
	Category    []int  `json:"category"`
	Subcategory []int  `json:"subcategory"`
	Function    []int  `json:"func"`
	Symbol      []*int `json:"nativeSymbol"`
	Window      []int  `json:"innerWindowID"`
	Line        []*int `json:"line"`
	Column      []*int `json:"column"`
}

type firefoxFunctions struct {
	Length   int    `json:"length"`
	Name     []int  `json:"name"`
	IsJS     []bool `json:"isJS"`
	Relevant []bool `json:"relevantForJS"`
	Resource []int  `json:"resource"` // -1: none
	Source   []*int `json:"source"`
	Line     []*int `json:"lineNumber"`
	Column   []*int `json:"columnNumber"`
}

type firefoxResources struct {
	Length int    `json:"length"`
	Lib    []int  `json:"lib"`
	Name   []int  `json:"name"`
	Host   []*int `json:"host"`
	Type   []int  `json:"type"`
}

type firefoxSymbols struct {
	Length  int   `json:"length"`
	Lib     []int `json:"libIndex"`
	Address []int `json:"address"`
	Name    []int `json:"name"`
	Size    []int `json:"functionSize"`
}

type firefoxSources struct {
	Length int       `json:"length"`
	ID     []*string `json:"uuid"`
	Name   []int     `json:"filename"`
}

// firefoxLibrary is the type of a resource that is a file.
const firefoxLibrary = 1

// The categories of frames, by the kind of their code; the first one is grey, for what has none.
var (
	firefoxCategories = []firefoxCategory{{"Other", "grey", []string{"Other"}}, {"Native", "blue", []string{"Other"}},
		{"Kernel", "orange", []string{"Other"}}, {"JVM", "green", []string{"Other"}}, {"Go", "lightblue", []string{"Other"}},
		{"Python", "yellow", []string{"Other"}}, {"JavaScript", "magenta", []string{"Other"}},
		{"Ruby", "red", []string{"Other"}}, {"PHP", "purple", []string{"Other"}}}
	firefoxKinds = []recording.FrameKind{recording.KindOther, recording.KindNative, recording.KindKernel,
		recording.KindJVM, recording.KindGo, recording.KindPython, recording.KindNode, recording.KindRuby, recording.KindPHP}
)

// firefoxTables fills the shared tables.
type firefoxTables struct {
	rec       *recording.Recording
	shared    firefoxShared
	libs      []firefoxLib
	texts     map[string]int
	stacks    map[int32]*int
	nodes     map[[2]int]int // prefix plus one, frame
	frames    map[int32]int
	functions map[[3]string]int
	resources map[[2]string]int
	sources   map[string]int
}

func newFirefoxTables(rec *recording.Recording) *firefoxTables {
	t := &firefoxTables{rec: rec, libs: []firefoxLib{}, texts: map[string]int{}, stacks: map[int32]*int{},
		nodes: map[[2]int]int{}, frames: map[int32]int{}, functions: map[[3]string]int{},
		resources: map[[2]string]int{}, sources: map[string]int{}}
	t.shared = firefoxShared{Texts: []string{},
		Stacks: firefoxStacks{Frame: []int{}, Prefix: []*int{}},
		Frames: firefoxFrames{Address: []int{}, InlineDepth: []int{}, Category: []int{}, Subcategory: []int{},
			Function: []int{}, Symbol: []*int{}, Window: []int{}, Line: []*int{}, Column: []*int{}},
		Functions: firefoxFunctions{Name: []int{}, IsJS: []bool{}, Relevant: []bool{}, Resource: []int{},
			Source: []*int{}, Line: []*int{}, Column: []*int{}},
		Resources: firefoxResources{Lib: []int{}, Name: []int{}, Host: []*int{}, Type: []int{}},
		Symbols:   firefoxSymbols{Lib: []int{}, Address: []int{}, Name: []int{}, Size: []int{}},
		Sources:   firefoxSources{ID: []*string{}, Name: []int{}}}
	return t
}

func (t *firefoxTables) text(text string) int {
	id, known := t.texts[text]
	if !known {
		id = len(t.shared.Texts)
		t.texts[text] = id
		t.shared.Texts = append(t.shared.Texts, text)
	}
	return id
}

// stackOf is the node of a stack in the tree of all stacks, nil of an unknown one.
func (t *firefoxTables) stackOf(stack int32) *int {
	if node, known := t.stacks[stack]; known {
		return node
	}
	var node *int
	for _, frame := range framesOf(t.rec, stack) {
		key := [2]int{0, t.frame(frame)}
		if node != nil {
			key[0] = *node + 1
		}
		id, known := t.nodes[key]
		if !known {
			s := &t.shared.Stacks
			id = s.Length
			t.nodes[key] = id
			s.Frame, s.Prefix = append(s.Frame, key[1]), append(s.Prefix, node)
			s.Length++
		}
		node = &id
	}
	t.stacks[stack] = node
	return node
}

func (t *firefoxTables) frame(number int32) int {
	id, known := t.frames[number]
	if known {
		return id
	}
	frame := &t.rec.Frames[number]
	f := &t.shared.Frames
	id = f.Length
	t.frames[number] = id
	kind := frame.Kind
	if kind == recording.KindVDSO {
		kind = recording.KindNative
	}
	f.Address, f.InlineDepth = append(f.Address, -1), append(f.InlineDepth, 0)
	f.Category = append(f.Category, max(0, slices.Index(firefoxKinds, kind)))
	f.Subcategory, f.Function = append(f.Subcategory, 0), append(f.Function, t.function(frame))
	f.Symbol, f.Window = append(f.Symbol, nil), append(f.Window, 0)
	f.Line, f.Column = append(f.Line, lineOf(frame)), append(f.Column, nil)
	f.Length++
	return id
}

func lineOf(frame *recording.Frame) *int {
	if frame.Line <= 0 {
		return nil
	}
	line := int(frame.Line)
	return &line
}

func (t *firefoxTables) function(frame *recording.Frame) int {
	module := moduleOf(frame)
	key := [3]string{plain(frame.Name), frame.File, module}
	id, known := t.functions[key]
	if known {
		return id
	}
	f := &t.shared.Functions
	id = f.Length
	t.functions[key] = id
	script := frame.Kind == recording.KindNode
	f.Name, f.IsJS, f.Relevant = append(f.Name, t.text(key[0])), append(f.IsJS, script), append(f.Relevant, false)
	f.Resource, f.Source = append(f.Resource, t.resource(module, frame.BuildID)), append(f.Source, t.source(frame.File))
	f.Line, f.Column = append(f.Line, nil), append(f.Column, nil)
	f.Length++
	return id
}

func (t *firefoxTables) resource(module, buildID string) int {
	if module == "" {
		return -1
	}
	key := [2]string{module, buildID}
	id, known := t.resources[key]
	if !known {
		name := plain(module)
		r := &t.shared.Resources
		id = r.Length
		t.resources[key] = id
		r.Lib, r.Name = append(r.Lib, len(t.libs)), append(r.Name, t.text(name))
		r.Host, r.Type = append(r.Host, nil), append(r.Type, firefoxLibrary)
		r.Length++
		t.libs = append(t.libs, firefoxLib{Name: name, Path: name, DebugName: name, DebugPath: name, CodeID: buildID})
	}
	return id
}

func (t *firefoxTables) source(file string) *int {
	if file == "" {
		return nil
	}
	id, known := t.sources[file]
	if !known {
		s := &t.shared.Sources
		id = s.Length
		t.sources[file] = id
		s.ID, s.Name = append(s.ID, nil), append(s.Name, t.text(plain(file)))
		s.Length++
	}
	return &id
}
