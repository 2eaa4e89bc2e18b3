package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// openInput opens a file to be read to its end. Opening a named pipe waits for its writer, and
// reading it for what they write: both end when the verb is interrupted, as `timeout` and a user
// expect of the first signal.
func openInput(ctx context.Context, path string) (io.ReadCloser, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; give the file in it", path)
	}
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		file, err := os.Open(path)
		done <- opened{file, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		return inputFile{until(ctx, o.file), o.file}, nil
	}
}

type inputFile struct {
	io.Reader
	io.Closer
}

// until reads an input until it is interrupted.
func until(ctx context.Context, input io.Reader) io.Reader {
	return readUntil{ctx: ctx, input: input, waits: ctx.Done() != nil && !regular(input)}
}

// readUntil reads until it is interrupted. What a read that is under way then still brings is lost
// with its buffer.
type readUntil struct {
	ctx   context.Context
	input io.Reader
	waits bool // for somebody who writes
}

func (r readUntil) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if !r.waits {
		return r.input.Read(p)
	}
	type read struct {
		n   int
		err error
	}
	own, done := make([]byte, min(len(p), 64<<10)), make(chan read, 1)
	go func() {
		n, err := r.input.Read(own)
		done <- read{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case got := <-done:
		return copy(p, own[:got.n]), got.err
	}
}

// regular reports whether reading needs no waiting for anybody.
func regular(input io.Reader) bool {
	file, is := input.(*os.File)
	if !is {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}
