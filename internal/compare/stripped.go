package compare

import (
	"culprit/internal/code"
	"culprit/recording"
)

// manyBuilds marks a module of which recordings have different builds, or one whose build is not known.
const manyBuilds = "?"

// findBuilds notes the build of each module: an address is the same function in the same build only.
func (p *pool) findBuilds(recordings []*recording.Recording) {
	p.homes = code.HomesOf(recordings)
	for _, rec := range recordings {
		for i := range rec.Frames {
			frame := &rec.Frames[i]
			build, known := p.builds[frame.Module]
			switch {
			case frame.BuildID == "", known && build != frame.BuildID:
				p.builds[frame.Module] = manyBuilds
			default:
				p.builds[frame.Module] = frame.BuildID
			}
		}
	}
}

// normal is a frame without what differs between builds and runs; what is known by its address alone is its module
// unless all recordings have the same build of it.
func (p *pool) normal(frame recording.Frame) recording.Frame {
	frame.File = p.homes.Within(&frame)
	if code.ByAddress(frame) && p.builds[frame.Module] == manyBuilds {
		frame.Name = ""
	}
	return p.told(normalFrame(frame))
}
