package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is the number of an encoding that writers of other programs still use for
// dictionaries; the library names it deprecated.
const plainDictionary format.Encoding = 2

// vetValues checks that the encoded values of a data page are about as many as
// the page says. The encodings are described in
// https://github.com/apache/parquet-format/blob/master/Encodings.md.
func vetValues(kind parquet.Kind, encoding format.Encoding, data []byte, count int) error {
	switch {
	case encoding == format.Plain:
		if kind != parquet.ByteArray {
			return nil // as long as its bytes
		}
		return vetPlain(kind, data, -1)
	case encoding == format.RLEDictionary || encoding == plainDictionary:
		if len(data) == 0 {
			return nil
		}
		return vetRuns(data[1:], int(data[0]), count)
	case encoding == format.DeltaBinaryPacked && kind != parquet.ByteArray:
		return vetDelta(data, count)
	default:
		return fmt.Errorf("values in the unknown encoding %s", encoding)
	}
}

// vetPlain steps over texts, each after its length. A negative count means any number.
func vetPlain(kind parquet.Kind, data []byte, count int) error {
	if kind != parquet.ByteArray {
		return nil
	}
	found := 0
	for ; len(data) > 0; found++ {
		if len(data) < 4 {
			return io.ErrUnexpectedEOF
		}
		length := binary.LittleEndian.Uint32(data)
		if length > MaxStringBytes {
			return fmt.Errorf("a text of %d bytes is longer than the limit of %d", length, MaxStringBytes)
		}
		if int(length) > len(data)-4 {
			return io.ErrUnexpectedEOF
		}
		data = data[4+length:]
	}
	if count >= 0 && found != count {
		return fmt.Errorf("a dictionary has %d values and not the %d it names", found, count)
	}
	return nil
}

// vetRuns adds up the lengths of the runs in the hybrid of run lengths and
// bit-packed groups: four bytes can claim two thousand million values.
func vetRuns(data []byte, width, count int) error {
	if width > 32 {
		return fmt.Errorf("values %d bits wide", width)
	}
	total := uint64(0)
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 {
			return io.ErrUnexpectedEOF
		}
		data = data[n:]
		values, size := head>>1, uint64(width+7)/8
		if values > uint64(count)+runPadding { // before it is multiplied
			return errors.New("runs longer than the page")
		}
		if head&1 != 0 {
			size = values * uint64(width)
			values *= 8
		}
		if size > uint64(len(data)) {
			return io.ErrUnexpectedEOF
		}
		if total += values; total > uint64(count)+runPadding {
			return errors.New("runs longer than the page")
		}
		data = data[size:]
	}
	if total < uint64(count) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func vetDelta(data []byte, count int) error {
	for field := range 3 { // block size, blocks, values
		value, n := binary.Uvarint(data)
		if n <= 0 {
			return io.ErrUnexpectedEOF
		}
		if field == 2 && value != uint64(count) {
			return fmt.Errorf("differences of %d values and not %d", value, count)
		}
		data = data[n:]
	}
	return nil
}
