package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	maxPage       = 64 << 20
	maxPageHeader = 1 << 16
	// The last run of bit-packed values is padded to a group; some writers pad more.
	runPadding = 512
)

// pages walks the pages of every column as the library will, and refuses those
// that would expand to more than their headers and the limits allow.
type pages struct {
	source   io.ReaderAt
	end      int64 // of the file
	expander *zstd.Decoder
	expanded int64 // bytes so far
	page     []byte
	raw      []byte
}

// column is what the walk has to know of one column chunk.
type column struct {
	*parquet.LeafColumn
	kind   parquet.Kind
	codec  format.CompressionCodec
	values int64 // in the data pages so far
}

// walks are kept for the next table: to make an expander costs more than to expand a small table.
var walks sync.Pool

// keptBuffer is how many bytes a walk may have for a page when it is kept.
const keptBuffer = 1 << 20

func newWalk(source io.ReaderAt, size int64) (*pages, error) {
	if kept, ok := walks.Get().(*pages); ok {
		kept.source, kept.end, kept.expanded = source, size, 0
		return kept, nil
	}
	expander, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
	if err != nil {
		return nil, fmt.Errorf("start zstd: %w", err)
	}
	return &pages{source: source, end: size, expander: expander}, nil
}

// release gives the walk to the next table; it keeps nothing of this one's source.
func (w *pages) release() {
	if w.source = nil; cap(w.page) > keptBuffer || cap(w.raw) > keptBuffer {
		w.page, w.raw = nil, nil
	}
	walks.Put(w)
}

func vetPages(source io.ReaderAt, size int64, file *parquet.File) error {
	walk, err := newWalk(source, size)
	if err != nil {
		return err
	}
	defer walk.release()
	paths := file.Schema().Columns()
	for _, group := range file.Metadata().RowGroups {
		for i := range group.Columns {
			leaf, _ := file.Schema().Lookup(paths[i]...)
			if err := walk.chunk(&leaf, &group.Columns[i].MetaData); err != nil {
				return fmt.Errorf("column %s: %w", strings.Join(paths[i], "."), err)
			}
		}
	}
	return nil
}

func (w *pages) chunk(leaf *parquet.LeafColumn, metadata *format.ColumnMetaData) error {
	column := &column{LeafColumn: leaf, kind: leaf.Node.Type().Kind(), codec: metadata.Codec}
	if parquet.Kind(metadata.Type) != column.kind {
		return errors.New("its type is not the one of the schema")
	}
	if column.codec != format.Zstd && column.codec != format.Uncompressed {
		return fmt.Errorf("compressed by %s, only ZSTD is read", column.codec)
	}
	start := metadata.DataPageOffset
	if metadata.DictionaryPageOffset != 0 {
		start = metadata.DictionaryPageOffset
	}
	end := start + metadata.TotalCompressedSize
	if start < 4 || end < start || end > w.end {
		return io.ErrUnexpectedEOF
	}
	for at := start; at < end; {
		header, length, err := w.header(at, end)
		if err != nil {
			return err
		}
		if header.Type == format.DictionaryPage && at != start {
			return errors.New("a dictionary is not at its start")
		}
		at += int64(length)
		if header.CompressedPageSize < 0 || int64(header.CompressedPageSize) > end-at ||
			header.UncompressedPageSize < 0 || header.UncompressedPageSize > maxPage {
			return io.ErrUnexpectedEOF
		}
		if err := w.read(at, int(header.CompressedPageSize)); err != nil {
			return err
		}
		if err := w.content(column, header); err != nil {
			return err
		}
		at += int64(header.CompressedPageSize)
	}
	if column.values != metadata.NumValues {
		return fmt.Errorf("it has %d values and not the %d it names", column.values, metadata.NumValues)
	}
	return nil
}

func (w *pages) header(at, end int64) (*format.PageHeader, int, error) {
	if err := w.read(at, int(min(end-at, maxPageHeader))); err != nil {
		return nil, 0, err
	}
	length, err := skimStruct(w.raw)
	if err != nil {
		return nil, 0, err
	}
	header := new(format.PageHeader)
	var protocol thrift.CompactProtocol
	if err := thrift.NewDecoder(protocol.NewReaderFromBytes(w.raw[:length])).Decode(header); err != nil {
		return nil, 0, oneLine(err)
	}
	return header, length, nil
}

func (w *pages) read(at int64, length int) error {
	if length > maxPage {
		return fmt.Errorf("a page of %d bytes is larger than the limit of %d", length, maxPage)
	}
	if cap(w.raw) < length {
		w.raw = make([]byte, length)
	}
	w.raw = w.raw[:length]
	_, err := w.source.ReadAt(w.raw, at)
	if errors.Is(err, io.EOF) && length > 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// expand returns data as it was before compression; valid until the next call.
func (w *pages) expand(column *column, data []byte, compressed bool) ([]byte, error) {
	if compressed && column.codec == format.Zstd {
		expanded, err := w.expander.DecodeAll(data, w.page[:0])
		if err != nil {
			return nil, fmt.Errorf("expand page: %w", err)
		}
		w.page, data = expanded, expanded
	}
	if w.expanded += int64(len(data)); w.expanded > maxTable {
		return nil, fmt.Errorf("it expands to more than the limit of %d bytes", maxTable)
	}
	return data, nil
}

func (w *pages) content(column *column, header *format.PageHeader) error {
	switch header.Type {
	case format.DictionaryPage:
		return w.dictionary(column, header)
	case format.DataPage:
		return w.dataPageV1(column, header)
	case format.DataPageV2:
		return w.dataPageV2(column, header)
	default:
		return fmt.Errorf("a page of unknown type %s", header.Type)
	}
}

func (w *pages) dictionary(column *column, header *format.PageHeader) error {
	if !header.DictionaryPageHeader.Valid || header.DictionaryPageHeader.V.NumValues < 0 {
		return parquet.ErrMissingPageHeader
	}
	data, err := w.expand(column, w.raw, true)
	if err != nil {
		return err
	}
	if encoding := header.DictionaryPageHeader.V.Encoding; encoding != format.Plain &&
		encoding != plainDictionary {
		return fmt.Errorf("a dictionary in the unknown encoding %s", encoding)
	}
	return vetPlain(column.kind, data, int(header.DictionaryPageHeader.V.NumValues))
}

func (w *pages) dataPageV1(column *column, header *format.PageHeader) error {
	head := header.DataPageHeader.V
	if !header.DataPageHeader.Valid {
		return parquet.ErrMissingPageHeader
	}
	if err := column.count(head.NumValues); err != nil {
		return err
	}
	data, err := w.expand(column, w.raw, true)
	if err != nil {
		return err
	}
	for _, level := range []struct {
		highest  int
		encoding format.Encoding
	}{
		{column.MaxRepetitionLevel, head.RepetitionLevelEncoding},
		{column.MaxDefinitionLevel, head.DefinitionLevelEncoding},
	} {
		if level.highest == 0 {
			continue
		}
		if level.encoding != format.RLE || len(data) < 4 {
			return errors.New("levels that are not run lengths")
		}
		length := binary.LittleEndian.Uint32(data)
		if uint64(length) > uint64(len(data)-4) {
			return io.ErrUnexpectedEOF
		}
		if err := vetRuns(data[4:4+length], bits.Len(uint(level.highest)), int(head.NumValues)); err != nil {
			return err
		}
		data = data[4+length:]
	}
	return vetValues(column.kind, head.Encoding, data, int(head.NumValues))
}

func (w *pages) dataPageV2(column *column, header *format.PageHeader) error {
	head := header.DataPageHeaderV2.V
	if !header.DataPageHeaderV2.Valid {
		return parquet.ErrMissingPageHeader
	}
	if err := column.count(head.NumValues); err != nil {
		return err
	}
	if head.NumNulls < 0 || head.NumNulls > head.NumValues {
		return fmt.Errorf("%d of %d values are null", head.NumNulls, head.NumValues)
	}
	data := w.raw
	for _, level := range []struct {
		highest int
		length  int32
	}{
		{column.MaxRepetitionLevel, head.RepetitionLevelsByteLength},
		{column.MaxDefinitionLevel, head.DefinitionLevelsByteLength},
	} {
		if level.length < 0 || int(level.length) > len(data) {
			return io.ErrUnexpectedEOF
		}
		if level.highest > 0 {
			err := vetRuns(data[:level.length], bits.Len(uint(level.highest)), int(head.NumValues))
			if err != nil {
				return err
			}
		}
		data = data[level.length:]
	}
	data, err := w.expand(column, data, !head.IsCompressed.Valid || head.IsCompressed.V)
	if err != nil {
		return err
	}
	return vetValues(column.kind, head.Encoding, data, int(head.NumValues-head.NumNulls))
}

func (c *column) count(values int32) error {
	if values < 0 || c.values+int64(values) > maxListElements {
		return fmt.Errorf("a page of %d values is over the limit", values)
	}
	c.values += int64(values)
	return nil
}
