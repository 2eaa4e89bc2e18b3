package format

import (
	"strings"

	"culprit/recording"
)

func (t *otlpMade) text(text string) int32 {
	text = strings.ToValidUTF8(text, "?")
	id, known := t.texts[text]
	if !known {
		id = int32(t.of.StringTable().Len())
		t.texts[text] = id
		t.of.StringTable().Append(text)
	}
	return id
}

// attribute takes a text or an int64.
func (t *otlpMade) attribute(name string, value any) int32 {
	key := otlpAttribute{name, value}
	id, known := t.attributes[key]
	if !known {
		id = int32(t.of.AttributeTable().Len())
		t.attributes[key] = id
		one := t.of.AttributeTable().AppendEmpty()
		one.SetKeyStrindex(t.text(name))
		one.Value().FromRaw(value) // fails for other types only
	}
	return id
}

// stack writes the locations leaf first.
func (t *otlpMade) stack(stack int32) int32 {
	if id, known := t.stacks[stack]; known {
		return id
	}
	frames := framesOf(t.rec, stack)
	id := int32(t.of.StackTable().Len())
	if len(frames) == 0 {
		id = 0
	} else {
		locations := make([]int32, 0, len(frames))
		for i := len(frames) - 1; i >= 0; i-- {
			locations = append(locations, t.location(frames[i]))
		}
		t.of.StackTable().AppendEmpty().LocationIndices().FromRaw(locations)
	}
	t.stacks[stack] = id
	return id
}

func (t *otlpMade) location(frame int32) int32 {
	id, known := t.locations[frame]
	if known {
		return id
	}
	of := &t.rec.Frames[frame]
	id = int32(t.of.LocationTable().Len())
	t.locations[frame] = id
	one := t.of.LocationTable().AppendEmpty()
	one.SetMappingIndex(t.mapping(of))
	line := one.Lines().AppendEmpty()
	line.SetFunctionIndex(t.function(of))
	line.SetLine(int64(of.Line))
	if name := otlpKindName(of.Kind); name != "" {
		one.AttributeIndices().Append(t.attribute(otlpFrameType, name))
	}
	return id
}

func otlpKindName(kind recording.FrameKind) string {
	switch kind {
	case recording.KindPython:
		return "cpython"
	case recording.KindNode:
		return "v8js"
	case recording.KindVDSO, recording.KindOther, "":
		return ""
	}
	return string(kind)
}

func (t *otlpMade) function(frame *recording.Frame) int32 {
	key := [2]string{plain(frame.Name), frame.File}
	id, known := t.functions[key]
	if !known {
		id = int32(t.of.FunctionTable().Len())
		t.functions[key] = id
		one := t.of.FunctionTable().AppendEmpty()
		one.SetNameStrindex(t.text(key[0]))
		one.SetSystemNameStrindex(t.text(key[0]))
		one.SetFilenameStrindex(t.text(frame.File))
	}
	return id
}

func (t *otlpMade) mapping(frame *recording.Frame) int32 {
	file := moduleOf(frame)
	if file == "" {
		return 0
	}
	key := [2]string{file, frame.BuildID}
	id, known := t.mappings[key]
	if !known {
		id = int32(t.of.MappingTable().Len())
		t.mappings[key] = id
		one := t.of.MappingTable().AppendEmpty()
		one.SetFilenameStrindex(t.text(file))
		if frame.BuildID != "" {
			one.AttributeIndices().Append(t.attribute("process.executable.build_id.gnu", frame.BuildID))
		}
	}
	return id
}
