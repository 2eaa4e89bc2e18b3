// Command pack compresses records into a spool file as they come.
package main

import (
	"bufio"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"strconv"
)

type spool struct {
	file   *os.File
	buffer *bufio.Writer
}

func (s *spool) appendChunk(chunk []byte) error {
	_, err := s.buffer.Write(chunk)
	return err
}

func checksum(chunk []byte, packer *flate.Writer) (uint64, error) {
	sum := uint64(0)
	for i := range chunk {
		sum = sum*31 + uint64(chunk[i])
		chunk[i] = byte(sum >> 17)
	}
	_, err := packer.Write(chunk[:len(chunk)/16])
	return sum, err
}

func run(path string, chunks int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	s := &spool{file: file, buffer: bufio.NewWriterSize(file, 128<<10)}
	packer, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		return err
	}
	chunk := make([]byte, 64<<10)
	total := uint64(0)
	for range chunks {
		sum, err := checksum(chunk, packer)
		if err != nil {
			return err
		}
		total += sum
		if err := s.appendChunk(chunk); err != nil {
			return err
		}
	}
	fmt.Println(total)
	return s.buffer.Flush()
}

func main() {
	chunks, _ := strconv.Atoi(os.Args[2])
	if err := run(os.Args[1], chunks); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(2)
	}
}
