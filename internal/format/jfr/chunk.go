// Package jfr reads the recordings of Java's Flight Recorder and of async-profiler, chunk by chunk:
// each describes the types of its events itself.
//
//	err := jfr.Read(file, func(chunk *jfr.Chunk) error {
//		return chunk.Events(func(event jfr.Event) error { …event.Field("stackTrace")… })
//	})
//
// It refuses chunks that are cut off, over MaxChunk, or whose types describe values without an end.
// Of one that was not closed, it reads what the JVM had flushed. Values are decoded when they are
// asked for, so that a chunk costs its size and the places of its constants.
//
// The format is described by what writes and reads it: src/hotspot/share/jfr and
// jdk.jfr.internal.consumer in OpenJDK.
package jfr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Limits of one chunk; the JDK begins a new one after 12 MiB.
const (
	MaxChunk     = 128 << 20
	maxConstants = 1 << 20
	maxClasses   = 1 << 16
	maxStrings   = 1 << 18
	maxDepth     = 16
	headBytes    = 68
	stateAt      = 64 // 0 in a closed chunk: FILE_STATE_POSITION of jdk.jfr.internal.consumer.ChunkHeader
)

// Magic is how a recording begins.
const Magic = "FLR\x00"

// Chunk is a part of a recording that can be read without the others.
type Chunk struct {
	StartNs    int64 // since 1970
	DurationNs int64
	Open       bool // it was not closed: what was done since the JVM flushed it last is not in it
	startTicks int64
	frequency  int64
	data       []byte
	classes    map[int64]*class
	constants  map[int64]map[int64]int // class, number → place of the value
	count      int
	steps      int   // left; each value that is passed costs one
	texts      int64 // the class of texts
}

var (
	errCut    = errors.New("the recording is cut off")
	errSteps  = errors.New("damaged recording: its types describe values without an end")
	errFormat = errors.New("damaged recording")
)

// Read calls use with each chunk in turn; chunks are valid until use returns. What follows an open
// chunk is what was not flushed of it, unless another chunk begins there.
func Read(input io.Reader, use func(*Chunk) error) error {
	open := false
	for first := true; ; first = false {
		var head [headBytes]byte
		n, err := io.ReadFull(input, head[:])
		switch {
		case open && !bytes.HasPrefix(head[:n], []byte(Magic)):
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("read: %w", err)
			}
			return nil
		case n == 0 && errors.Is(err, io.EOF):
			if first {
				return errCut
			}
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errCut
		case err != nil:
			return fmt.Errorf("read: %w", err)
		}
		chunk, err := readChunk(head, input)
		if err != nil {
			return err
		}
		if err := use(chunk); err != nil {
			return err
		}
		open = chunk.Open
	}
}

func readChunk(head [headBytes]byte, input io.Reader) (*Chunk, error) {
	number := func(at int) int64 { return int64(binary.BigEndian.Uint64(head[at:])) }
	size, constants, metadata := number(8), number(16), number(24)
	c := &Chunk{StartNs: number(32), DurationNs: number(40), startTicks: number(48), frequency: number(56),
		Open: head[stateAt] != 0, classes: map[int64]*class{}, constants: map[int64]map[int64]int{}}
	switch major := binary.BigEndian.Uint16(head[4:]); {
	case string(head[:4]) != Magic:
		return nil, fmt.Errorf("%w: a chunk does not begin as one", errFormat)
	case major < 1 || major > 2:
		return nil, fmt.Errorf("version %d of the format is not read", major)
	case binary.BigEndian.Uint32(head[64:])&1 == 0:
		return nil, errors.New("its whole numbers are not packed, as no JDK since 11 writes them; that is not read")
	case size == 0:
		return nil, errors.New("the recording was not closed; `jcmd PID JFR.dump filename=FILE` writes one that is")
	case size < headBytes || size > MaxChunk:
		return nil, fmt.Errorf("a chunk of %d bytes, more than is read (%d MiB)", size, MaxChunk>>20)
	case c.frequency <= 0:
		return nil, fmt.Errorf("%w: its clock does not tick", errFormat)
	}
	c.data = make([]byte, 0, min(size, 1<<20))
	for c.data = append(c.data, head[:]...); len(c.data) < int(size); { // not all at once: the size may be a lie
		from := len(c.data)
		c.data = append(c.data, make([]byte, min(int(size)-from, max(1<<20, from)))...)
		if _, err := io.ReadFull(input, c.data[from:]); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, errCut
			}
			return nil, fmt.Errorf("read: %w", err)
		}
	}
	c.steps = 16*len(c.data) + 1<<20
	if err := c.readMetadata(metadata); err != nil {
		return nil, err
	}
	err := c.readConstants(constants)
	c.steps += 16 * len(c.data)
	return c, err
}

// NsSince is the time of ticks since the chunk began.
func (c *Chunk) NsSince(ticks int64) int64 { return c.span(ticks - c.startTicks) }

func (c *Chunk) span(ticks int64) int64 {
	const limit = 1e18
	ns := float64(ticks) / float64(c.frequency) * 1e9
	return int64(max(-limit, min(limit, ns)))
}

// readConstants notes where each constant stands, following the list of checkpoints.
func (c *Chunk) readConstants(at int64) error {
	seen := map[int64]bool{}
	for at != 0 {
		if at < headBytes || at >= int64(len(c.data)) || seen[at] {
			return fmt.Errorf("%w: its constants are not where it says", errFormat)
		}
		seen[at] = true
		r := &reader{c: c, at: int(at)}
		r.number() // size
		if r.number() != 1 {
			return fmt.Errorf("%w: its constants are not where it says", errFormat)
		}
		r.number() // start
		r.number() // duration
		next := r.number()
		r.bytes(1) // what wrote it
		for pools := r.count(); pools > 0 && r.err == nil; pools-- {
			r.pool()
		}
		if r.err != nil {
			return r.err
		}
		if next == 0 {
			return nil
		}
		at += next
	}
	return nil
}

// pool notes the places of one class's constants.
func (r *reader) pool() {
	c := r.c
	id := r.number()
	of := c.classes[id]
	if of == nil && r.err == nil {
		r.err = fmt.Errorf("%w: constants of an unknown type", errFormat)
	}
	places := c.constants[id]
	if places == nil {
		places = map[int64]int{}
		c.constants[id] = places
	}
	for count := r.count(); count > 0 && r.err == nil; count-- {
		key := r.number()
		if c.count++; c.count > maxConstants {
			r.err = fmt.Errorf("more than %d constants in a chunk, more than are read", maxConstants)
			return
		}
		places[key] = r.at
		r.skipClass(of, 0)
	}
}

// Events calls use with each event of a class that is known.
func (c *Chunk) Events(use func(Event) error) error {
	for at := headBytes; at < len(c.data); {
		r := &reader{c: c, at: at}
		size, id := r.number(), r.number()
		switch {
		case r.err != nil:
			return r.err
		case size <= 0 || size > int64(len(c.data)-at):
			return fmt.Errorf("%w: an event of %d bytes", errFormat, size)
		}
		c.steps += 64 + 16*int(size)
		if of := c.classes[id]; of != nil && id > 1 {
			if err := use(Event{Class: of.name, ID: id, value: Value{c: c, of: of, at: r.at}}); err != nil {
				return err
			}
		}
		if c.steps < 0 {
			return errSteps
		}
		at += int(size)
	}
	return nil
}
