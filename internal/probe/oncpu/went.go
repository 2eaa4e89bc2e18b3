package oncpu

const (
	maxLocated     = 4096 // instructions of which is known where they went
	placesOfThread = 4    // kept of one instruction
)

// went is where instructions went, by thread, as the processor's samples or debug registers saw: of
// those that overwrite the register of their address, samples of the clock do not tell.
type went map[codeOf]map[int32]*visited

// visited are places that one thread was seen at.
type visited struct {
	places []access
	given  int // samples that were taken for one of them
}

// add keeps a place, the first few of a thread and instruction.
func (w went) add(at codeOf, tid int32, place access) {
	threads := w[at]
	if threads == nil {
		if len(w) == maxLocated {
			return
		}
		threads = map[int32]*visited{}
		w[at] = threads
	}
	of := threads[tid]
	if of == nil {
		of = &visited{}
		threads[tid] = of
	}
	if len(of.places) < placesOfThread {
		of.places = append(of.places, place)
	}
}

// next is where a further sample of a thread is taken to have gone: to one place after the other.
func (w went) next(at codeOf, tid int32) (access, bool) {
	of := w[at][tid]
	if of == nil {
		return access{}, false
	}
	place := of.places[of.given%len(of.places)]
	of.given++
	return place, true
}
