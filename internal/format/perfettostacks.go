package format

import (
	"google.golang.org/protobuf/encoding/protowire"

	"culprit/recording"
)

// The tables of interned data that stacks are made of.
const (
	internedFunctions  = 5
	internedFrames     = 6
	internedCallstacks = 7
	internedBuildIDs   = 16
	internedPaths      = 17
	internedSources    = 18
	internedMappings   = 19
)

// internedBytes is how large a packet of interned data may grow before the next one is begun.
const internedBytes = 1 << 20

// perfettoNames gives each text, mapping and frame its number within its table, from 1.
type perfettoNames struct {
	trace    *perfettoTrace
	data     []byte
	texts    map[protowire.Number]map[string]uint64
	mappings map[[2]string]uint64
	frames   map[int32]uint64
}

// intern writes the stacks that samples and waits refer to.
func (t *perfettoTrace) intern(lines []threadLine) {
	names := &perfettoNames{trace: t, texts: map[protowire.Number]map[string]uint64{},
		mappings: map[[2]string]uint64{}, frames: map[int32]uint64{}}
	for i := range lines {
		for _, one := range lines[i].amounts {
			names.stack(one.stack)
		}
		for _, wait := range lines[i].waits {
			names.stack(t.rec.Waits[wait].Stack)
		}
	}
	names.flush()
}

func (n *perfettoNames) flush() {
	if len(n.data) > 0 {
		n.trace.put(flagNeedsInterned, appendBytes(nil, packetInterned, n.data))
		n.data = n.data[:0]
	}
}

// stack interns a callstack, root first.
func (n *perfettoNames) stack(number int32) {
	frames := framesOf(n.trace.rec, number)
	if _, known := n.trace.stacks[number]; known || len(frames) == 0 {
		return
	}
	id := uint64(len(n.trace.stacks)) + 1
	n.trace.stacks[number] = id
	callstack := appendNumber(nil, 1, id)
	for _, frame := range frames {
		callstack = appendNumber(callstack, 2, n.frame(frame))
	}
	n.data = appendBytes(n.data, internedCallstacks, callstack)
	if len(n.data) > internedBytes {
		n.flush()
	}
}

func (n *perfettoNames) text(table protowire.Number, text string) uint64 {
	known := n.texts[table]
	if known == nil {
		known = map[string]uint64{}
		n.texts[table] = known
	}
	id := known[text]
	if id == 0 {
		id = uint64(len(known)) + 1
		known[text] = id
		n.data = appendBytes(n.data, table, appendText(appendNumber(nil, 1, id), 2, text))
	}
	return id
}

func (n *perfettoNames) frame(number int32) uint64 {
	if id := n.frames[number]; id > 0 {
		return id
	}
	frame := &n.trace.rec.Frames[number]
	id := uint64(len(n.frames)) + 1
	n.frames[number] = id
	made := appendNumber(nil, 1, id)
	made = appendNumber(made, 2, n.text(internedFunctions, plain(frame.Name)))
	made = appendNumber(made, 3, n.mapping(frame))
	made = appendNumber(made, 4, id) // frames of one mapping are told apart by their place in it
	if frame.File != "" {
		made = appendNumber(made, 5, n.text(internedSources, plain(frame.File)))
		made = appendNumber(made, 6, uint64(max(0, frame.Line)))
	}
	n.data = appendBytes(n.data, internedFrames, made)
	return id
}

// mapping is the frame's file, or what kind of code it is: each frame has to have one.
func (n *perfettoNames) mapping(frame *recording.Frame) uint64 {
	file := moduleOf(frame)
	if file == "" {
		file = "[" + string(frame.Kind) + "]"
	}
	key := [2]string{plain(file), frame.BuildID}
	if id := n.mappings[key]; id > 0 {
		return id
	}
	id := uint64(len(n.mappings)) + 1
	n.mappings[key] = id
	made := appendNumber(nil, 1, id)
	if key[1] != "" {
		made = appendNumber(made, 2, n.text(internedBuildIDs, plain(key[1])))
	}
	made = appendNumber(made, 7, n.text(internedPaths, key[0]))
	n.data = appendBytes(n.data, internedMappings, made)
	return id
}
