package recording

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// Builder gives equal frames and equal stacks one id each. It is what a
// recorder and an importer fill before they write. It never fails: what does
// not fit is counted and stands in the losses of the recording. It is not safe
// for use by several goroutines at a time.
//
//	builder := recording.NewBuilder()
//	leaf := builder.Frame(recording.Frame{Name: "write", Kind: recording.KindKernel})
//	sample.Stack = builder.Stack([]int32{root, leaf})
//	builder.Into(&rec)
type Builder struct {
	frames   []Frame
	stacks   []Stack
	frameIDs map[Frame]int32
	stackIDs map[string]int32
	key      []byte // scratch
	elements int    // frames in all stacks
	lost     lost
	limits   builderLimits
}

type builderLimits struct{ frames, stacks, elements int }

type lost struct{ frames, stacks, cutStacks, cutStrings, unknownFrames int64 }

// The names of the marker frames: what stood there did not fit.
const (
	FrameNotKept = "[frame not kept]"
	FramesCut    = "[frames cut]"
)

// NewBuilder returns an empty builder with the limits of a recording.
func NewBuilder() *Builder { return NewBuilderWithin(MaxFrames, MaxStacks, maxListElements) }

// NewBuilderWithin returns a builder with lower limits, for whoever must stay
// within some memory: of frames, of stacks, and of frames in all stacks together.
func NewBuilderWithin(frames, stacks, elements int) *Builder {
	return &Builder{
		frameIDs: map[Frame]int32{},
		stackIDs: map[string]int32{},
		limits: builderLimits{frames: min(frames, MaxFrames), stacks: min(stacks, MaxStacks),
			elements: min(elements, maxListElements)},
	}
}

// Frame returns the id of a frame. Strings over MaxStringBytes are cut; when
// MaxFrames are there, further ones become the marker FrameNotKept.
func (b *Builder) Frame(frame Frame) int32 {
	if id, ok := b.frameIDs[frame]; ok {
		return id
	}
	frame.Name = b.cut(frame.Name)
	frame.Module = b.cut(frame.Module)
	frame.BuildID = b.cut(frame.BuildID)
	frame.File = b.cut(frame.File)
	if id, ok := b.frameIDs[frame]; ok {
		return id
	}
	// Two places are kept for the markers.
	if len(b.frames) >= b.limits.frames-2 && !isMarker(frame) {
		b.lost.frames++
		return b.Frame(Frame{Name: FrameNotKept, Kind: KindOther})
	}
	id := int32(len(b.frames))
	b.frames = append(b.frames, frame)
	b.frameIDs[frame] = id
	return id
}

func isMarker(frame Frame) bool {
	return frame == Frame{Name: FrameNotKept, Kind: KindOther} || frame == Frame{Name: FramesCut, Kind: KindOther}
}

// cut also copies, so that a short name does not keep a whole symbol table alive.
func (b *Builder) cut(s string) string {
	if len(s) <= MaxStringBytes {
		return strings.Clone(s)
	}
	b.lost.cutStrings++
	end := MaxStringBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.Clone(s[:end])
}

// Stack returns the id of a stack, root first. One deeper than MaxStackFrames
// keeps its root half and its leaf half with the marker FramesCut between them.
// No frames at all, a frame id that this builder did not give, and new stacks
// beyond MaxStacks return NoStack.
func (b *Builder) Stack(frames []int32) int32 {
	if len(frames) == 0 {
		return NoStack
	}
	for _, frame := range frames {
		if frame < 0 || int(frame) >= len(b.frames) {
			b.lost.unknownFrames++
			return NoStack
		}
	}
	if len(frames) > MaxStackFrames {
		b.lost.cutStacks++
		frames = b.middleCut(frames)
	}
	b.key = b.key[:0]
	for _, frame := range frames {
		b.key = binary.LittleEndian.AppendUint32(b.key, uint32(frame))
	}
	if id, ok := b.stackIDs[string(b.key)]; ok {
		return id
	}
	if len(b.stacks) >= b.limits.stacks || b.elements+len(frames) > b.limits.elements {
		b.lost.stacks++
		return NoStack
	}
	id := int32(len(b.stacks))
	b.stacks = append(b.stacks, Stack{Frames: append([]int32(nil), frames...)})
	b.stackIDs[string(b.key)] = id
	b.elements += len(frames)
	return id
}

func (b *Builder) middleCut(frames []int32) []int32 {
	half := MaxStackFrames / 2
	kept := make([]int32, 0, MaxStackFrames)
	kept = append(kept, frames[:half]...)
	kept = append(kept, b.Frame(Frame{Name: FramesCut, Kind: KindOther}))
	return append(kept, frames[len(frames)-(MaxStackFrames-half-1):]...)
}

// Frames gives the frames of a stack, root first; nil for NoStack.
func (b *Builder) Frames(stack int32) (frames []Frame) {
	if stack < 0 {
		return nil
	}
	for _, frame := range b.stacks[stack].Frames {
		frames = append(frames, b.frames[frame])
	}
	return frames
}

// Called is the stack of what one stack does in user space and another one in the kernel: both are
// of one call.
func (b *Builder) Called(user, kernel int32) int32 {
	var frames []int32
	for _, part := range []struct {
		stack    int32
		inKernel bool
	}{{user, false}, {kernel, true}} {
		if part.stack < 0 {
			continue
		}
		for _, frame := range b.stacks[part.stack].Frames {
			if (b.frames[frame].Kind == KindKernel) == part.inKernel {
				frames = append(frames, frame)
			}
		}
	}
	return b.Stack(frames)
}

// Losses returns what did not fit so far, only what is not zero.
func (b *Builder) Losses() []Loss {
	var losses []Loss
	for _, loss := range []Loss{
		{What: "frames beyond the limit", Count: b.lost.frames},
		{What: "stacks beyond the limit", Count: b.lost.stacks},
		{What: "stacks too deep, middle cut", Count: b.lost.cutStacks},
		{What: "names too long, end cut", Count: b.lost.cutStrings},
		{What: "stacks with an unknown frame", Count: b.lost.unknownFrames},
	} {
		if loss.Count > 0 {
			losses = append(losses, loss)
		}
	}
	return losses
}

// Into puts the frames and stacks into a recording and appends the losses to
// its manifest. The builder must not be used afterwards.
func (b *Builder) Into(r *Recording) {
	r.Frames, r.Stacks = b.frames, b.stacks
	r.Manifest.Losses = append(r.Manifest.Losses, b.Losses()...)
}
