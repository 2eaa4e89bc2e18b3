package oncpu

import (
	"encoding/binary"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/goroutine"
	"culprit/internal/probe/mapped"
	"culprit/internal/probe/spe"
)

// Records of Arm's statistical profiling become samples of the processor: they have the address of
// the memory, the instruction and the thread. Registers and the time are not in them, nor is the
// task of Go that ran: of Go programs, whose tasks go from thread to thread, none is taken.

const (
	maxWords = 1 << 12 // instructions whose code is kept
	maxTids  = 1 << 14
	// operationsPerSecond is how many a CPU is taken to do: the interval between two records is
	// counted in them, and the kernel bounds it at 2^24 (PMSIRR_EL1.INTERVAL).
	operationsPerSecond = 2e9
)

// packetReader reads the records of all CPUs.
type packetReader struct {
	samplers []*spe.Sampler
	threads  map[int32]int32 // processes, by their threads which the clock met
	golang   map[int32]bool  // of those
	code     map[codeOf]uint32
	taken    int64 // records that became samples
	nobodys  int64 // records without a thread
	strange  bool  // what was written is no packets
}

// openPackets opens the events that can be opened, and says which those are.
func openPackets(found *foundSource, hz int) (reader *packetReader, opened []string) {
	reader = &packetReader{}
	for i := range found.list {
		one := &found.list[i]
		sampler, err := spe.Open(one.Attributes(), one.CPUs, uint64(operationsPerSecond/hz))
		if err == nil {
			reader.samplers, opened = append(reader.samplers, sampler), append(opened, found.events[i])
		}
	}
	return reader, opened
}

// forget drops what was known in the window before.
func (p *packetReader) forget() {
	if p != nil {
		p.threads, p.golang, p.code = map[int32]int32{}, map[int32]bool{}, map[codeOf]uint32{}
		p.taken, p.nobodys = 0, 0
	}
}

func (p *packetReader) enable() error {
	if p == nil || p.strange {
		return nil
	}
	for _, one := range p.samplers {
		if err := one.Enable(); err != nil {
			return err
		}
	}
	return nil
}

func (p *packetReader) disable() {
	if p == nil {
		return
	}
	for _, one := range p.samplers {
		one.Disable()
	}
}

func (p *packetReader) close() {
	if p == nil {
		return
	}
	for _, one := range p.samplers {
		one.Close()
	}
}

// tell counts what cannot be told, and reports whether there was anything.
func (p *packetReader) tell(window *bpf.Window) bool {
	if p.strange {
		window.Lose("oncpu: CPUs whose statistical profiling writes what is not understood", int64(len(p.samplers)))
	}
	window.Lose("oncpu: samples of memory without a thread (CONFIG_PID_IN_CONTEXTIDR is not set)", p.nobodys)
	return p.taken > 0
}

// packets are those of a processor that writes them; nil: it does not.
func (m *memorySampling) packets() *packetReader {
	if m == nil {
		return nil
	}
	return m.spe
}

// knows keeps that a thread has operands that somebody may share: records of others are dropped.
func (p *packetReader) knows(tid, pid int32) {
	if p == nil || len(p.threads) == maxTids {
		return
	}
	if _, asked := p.golang[pid]; !asked {
		p.golang[pid] = goroutine.Is(pid)
	}
	if !p.golang[pid] {
		p.threads[tid] = pid
	}
}

// take gives what was written since the last time as samples. Records have no time: they are taken
// to be of until, of which they are at most as old as a look.
func (p *packetReader) take(until int64, each func(*oncpuOperand)) {
	if p == nil || p.strange {
		return
	}
	for _, one := range p.samplers {
		if !one.Take(func(record *spe.Record) { p.sample(record, until, each) }) {
			p.strange = true
		}
	}
	if p.strange {
		p.disable()
	}
}

// sample gives a record of a known thread as a sample.
func (p *packetReader) sample(record *spe.Record, until int64, each func(*oncpuOperand)) {
	pid, known := p.threads[record.Tid]
	if record.Tid == 0 {
		p.nobodys++
	}
	if !known || record.Address == 0 {
		return
	}
	at := codeOf{pid, record.Code}
	word, known := p.code[at]
	if !known {
		if len(p.code) == maxWords {
			return
		}
		word = wordAt(at)
		p.code[at] = word
	}
	one := &oncpuOperand{Time: uint64(until), Ip: record.Code, Data: record.Address, Tgid: uint32(pid),
		Tid: uint32(record.Tid)}
	binary.LittleEndian.PutUint32(one.Code[codeBefore:], word)
	p.taken++
	each(one)
}

// wordAt reads an instruction of a process; 0, which is none (UDF), where it cannot be read.
func wordAt(at codeOf) uint32 {
	var word [4]byte
	if !mapped.Copy(int(at.pid), at.address, word[:]) {
		return 0
	}
	return binary.LittleEndian.Uint32(word[:])
}
