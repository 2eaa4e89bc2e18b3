//go:build ignore

// Command unpack counts the lines of packed logs.
package main

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

func main() {
	var text bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"customer %d\",\"city\":\"c%d\"}\n", i, i*7919%10007, i%97)
	}
	writer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	packed := writer.EncodeAll(text.Bytes(), nil)
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	total := 0
	var lines []byte
	for i := range 500 {
		if lines, err = reader.DecodeAll(packed, lines[:0]); err != nil {
			panic(err)
		}
		total += bytes.Count(lines, fmt.Appendf(nil, "\"c%d\"", i%97))
	}
	fmt.Println(total)
}
