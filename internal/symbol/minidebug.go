package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

const (
	maxMiniDebug    = 32 << 20  // compressed
	maxExpanded     = 128 << 20 // of .gnu_debugdata
	maxDictionary   = 64 << 20  // what xz -9 takes
	lzma2FilterID   = 0x21
	xzMagic         = "\xFD7zXZ\x00"
	xzStreamHeader  = 12
	xzSizesInHeader = 2
)

// addMiniDebug adds the functions of .gnu_debugdata, an ELF file in xz with
// symbols alone, which Fedora and its relatives put into every program.
func addMiniDebug(builder *tableBuilder, file *elf.File) error {
	section := file.Section(".gnu_debugdata")
	if section == nil {
		return nil
	}
	packed, err := sectionData(section, maxMiniDebug)
	if err != nil {
		return fmt.Errorf("read .gnu_debugdata: %w", err)
	}
	content, err := unpackXZ(packed, maxExpanded)
	if err != nil {
		return fmt.Errorf("unpack .gnu_debugdata: %w", err)
	}
	inner, err := openELF(bytes.NewReader(content))
	if err != nil {
		return err
	}
	_, err = addSymbols(builder, inner, elf.SHT_SYMTAB)
	return err
}

var errXZ = errors.New("damaged xz data")

// unpackXZ unpacks one xz stream (https://tukaani.org/xz/xz-file-format.txt).
// The xz reader of the library makes room for whatever dictionary a block asks
// for, up to 4 GiB; so the blocks are walked here and the library decodes the
// LZMA2 in them. Check sums are not verified: the ELF file inside is not trusted.
func unpackXZ(packed []byte, limit int) ([]byte, error) {
	if len(packed) < xzStreamHeader || string(packed[:6]) != xzMagic {
		return nil, errXZ
	}
	checkBytes := [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[packed[7]&0xF]
	var content bytes.Buffer
	rest := packed[xzStreamHeader:]
	for {
		if len(rest) == 0 {
			return nil, errXZ
		}
		if rest[0] == 0 { // the index: no more blocks
			return content.Bytes(), nil
		}
		headerBytes := (int(rest[0]) + 1) * 4
		if headerBytes > len(rest) {
			return nil, errXZ
		}
		dictionary, err := blockDictionary(rest[:headerBytes])
		if err != nil {
			return nil, err
		}
		data := bytes.NewReader(rest[headerBytes:])
		reader, err := lzma.Reader2Config{DictCap: dictionary}.NewReader2(data)
		if err != nil {
			return nil, fmt.Errorf("unpack LZMA2: %w", err)
		}
		if _, err := io.Copy(&content, io.LimitReader(reader, int64(limit-content.Len())+1)); err != nil {
			return nil, fmt.Errorf("unpack LZMA2: %w", err)
		}
		if content.Len() > limit {
			return nil, fmt.Errorf("it expands to more than the limit of %d bytes", limit)
		}
		used := len(rest) - headerBytes - data.Len()
		skip := headerBytes + (used+3)&^3 + checkBytes
		if skip > len(rest) {
			return nil, errXZ
		}
		rest = rest[skip:]
	}
}

// blockDictionary returns the size of the dictionary that a block asks for.
func blockDictionary(header []byte) (int, error) {
	flags, rest := header[1], header[2:]
	if flags&0x03 != 0 || flags&0x3C != 0 {
		return 0, errors.New("xz with more than the LZMA2 filter")
	}
	for i := range xzSizesInHeader {
		if flags&(0x40<<i) == 0 {
			continue
		}
		_, n := binary.Uvarint(rest)
		if n <= 0 {
			return 0, errXZ
		}
		rest = rest[n:]
	}
	if len(rest) < 3 || rest[0] != lzma2FilterID || rest[1] != 1 {
		return 0, errors.New("xz without the LZMA2 filter")
	}
	size, err := lzma.DecodeDictCap(rest[2])
	if err != nil || size > maxDictionary {
		return 0, fmt.Errorf("an xz dictionary of %d bytes is over the limit of %d", size, maxDictionary)
	}
	return max(int(size), lzma.MinDictCap), nil
}
