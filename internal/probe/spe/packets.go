// Package spe reads what the Statistical Profiling Extension of Arm writes: of one operation in
// some millions a record with its address, the address of the memory that it touched, and the
// thread.
//
//	sampler, err := spe.Open(attributes, cpus, period)
//	err = sampler.Enable()
//	sampler.Take(func(r *spe.Record) { … }) // from time to time
//
// The kernel's driver (drivers/perf/arm_spe_pmu.c) has the processor write to a buffer in memory,
// in packets of the Arm Architecture Reference Manual (DDI 0487, Statistical Profiling Extension
// sample record specification): no BPF program sees them. What is not understood is skipped and
// counted.
package spe

import "encoding/binary"

// Record is a load or a store in user mode.
type Record struct {
	Tid     int32 // 0: the kernel does not say (CONFIG_PID_IN_CONTEXTIDR)
	Code    uint64
	Address uint64
	Write   bool
}

// Headers of packets. Those from 0x40 to 0xbf have the length of what follows in two bits.
const (
	padding  = 0x00
	end      = 0x01
	extended = 0x20 // to 0x23: a second byte of header follows
	// alignment is an extended header's second byte where padding up to a power of two follows,
	// which counts from the begin of the buffer.
	alignment  = 0x00
	operation  = 0x48
	loadStore  = 0x49
	branch     = 0x4a
	context    = 0x64 // of EL1; 0x65 of EL2, where the kernel runs on processors that can
	contextEL2 = 0x65
	timestamp  = 0x71
	codeAt     = 0xb0
	dataAt     = 0xb2
)

const (
	addressBits = 1<<56 - 1
	levelShift  = 61 // of the exception level, in the address of an instruction
	levels      = 3
	storeBit    = 1 // of the payload of loadStore
)

// partial is a record of which not all packets were read.
type partial struct {
	record        Record
	memory, user  bool
	hasCode, data bool
}

// complete tells whether all is known of an access in user mode.
func (p *partial) complete() bool { return p.memory && p.user && p.hasCode && p.data }

// decode gives each record that is a load or a store in user mode, and the number of bytes that are
// no packets. from is where the data stands in the buffer.
func decode(data []byte, from uint64, each func(*Record)) (broken int64) {
	one := partial{}
	for at := 0; at < len(data); {
		header, size := data[at], length(data[at:], from+uint64(at))
		if size == 0 {
			broken++
			one = partial{} // of which a packet may be missing
			at++
			continue
		}
		switch payload := data[at+1 : at+size]; header {
		case end, timestamp:
			if one.complete() {
				each(&one.record)
			}
			one = partial{}
		default:
			one.add(header, payload)
		}
		at += size
	}
	return broken
}

// add takes over what a packet says.
func (p *partial) add(header byte, payload []byte) {
	switch header {
	case loadStore:
		p.memory, p.record.Write = true, payload[0]&storeBit != 0
	case operation, branch:
		p.memory = false
	case context, contextEL2:
		p.record.Tid = int32(binary.LittleEndian.Uint32(payload))
	case codeAt:
		address := binary.LittleEndian.Uint64(payload)
		p.hasCode, p.user = true, address>>levelShift&levels == 0
		p.record.Code = address & addressBits
	case dataAt: // its top byte is the tag of a pointer
		p.data, p.record.Address = true, binary.LittleEndian.Uint64(payload)&addressBits
	}
}

// length is that of the packet that data begins with, with its header; 0: it is none, or not all of
// it is there.
func length(data []byte, from uint64) (size int) {
	switch header := data[0]; {
	case header == padding || header == end:
		size = 1
	case header&^3 == extended:
		if len(data) < 2 {
			return 0
		}
		if data[1] == alignment {
			to := uint64(2) << (header & 0xf)
			size = int(to - from%to)
		} else if following := sized(data[1]); following > 0 {
			size = 1 + following
		}
	default:
		size = sized(header)
	}
	if size > len(data) {
		return 0
	}
	return size
}

// sized is the length of a packet whose header tells how many bytes follow: 1, 2, 4 or 8.
func sized(header byte) int {
	if header < 0x40 || header >= 0xc0 {
		return 0
	}
	return 1 + 1<<(header>>4&3)
}
