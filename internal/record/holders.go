package record

import (
	"strings"

	"culprit/internal/host"
	"culprit/recording"
)

const tagLength = 16 // of a BPF program: the kernel's hash of its code, which follows the prefix in its symbol

// nameHolders writes into the names of the frames of BPF programs which process holds them: time in
// those of others is no cost of recording, and names who watches. Recorders of this program all
// hold the same programs; one that begins is not called so yet.
func nameHolders(frames []recording.Frame, own *host.Tracer, tracers []host.Tracer) {
	for i := range frames {
		rest, found := strings.CutPrefix(frames[i].Name, recording.BPFProgram)
		if !found || frames[i].Kind != recording.KindKernel || len(rest) < tagLength || own.Holds(rest[:tagLength]) {
			continue
		}
		for at := range tracers {
			if tracer := &tracers[at]; !tracer.OfRecorder() && tracer.Holds(rest[:tagLength]) {
				frames[i].Name = recording.Held(frames[i].Name, tracer.Name)
				break
			}
		}
	}
}
