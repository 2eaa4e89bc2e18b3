package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const (
	rowsPerBatch = 512
	maxFooter    = 1 << 20
)

// readTable reads one Parquet file. The library that decodes it trusts counts
// and sizes in the file and panics on some damage, so everything that decides
// how much memory it takes is vetted before it sees the file. What its rows take goes off memory.
func readTable[T any](source io.ReaderAt, size, limit int64, memory *int64) (rows []T, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			rows, err = nil, fmt.Errorf("decode: %v", broken)
		}
	}()
	if err := vetFooter(source, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(source, size,
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<13))
	if err != nil {
		return nil, oneLine(err)
	}
	schema := parquet.SchemaOf(new(T))
	if err := checkColumns(schema, file.Schema()); err != nil {
		return nil, err
	}
	if err := vetRows(file, limit); err != nil {
		return nil, err
	}
	if *memory -= memoryOf[T](file); *memory < 0 {
		return nil, fmt.Errorf("with its %d rows the recording takes more memory than it may here", file.NumRows())
	}
	if err := vetPages(source, size, file); err != nil {
		return nil, err
	}
	return decodeRows[T](file, schema)
}

// memoryOf is what the rows take once their counts are vetted: each as it is, and what its lists
// hold.
func memoryOf[T any](file *parquet.File) int64 {
	const element = 8 // at most: lists are of numbers
	bytes := file.NumRows() * int64(reflect.TypeFor[T]().Size())
	for _, group := range file.Metadata().RowGroups {
		for i := range group.Columns {
			bytes += element * max(0, group.Columns[i].MetaData.NumValues-group.NumRows)
		}
	}
	return bytes
}

func decodeRows[T any](file *parquet.File, schema *parquet.Schema) ([]T, error) {
	wanted := file.NumRows()
	if wanted == 0 && len(file.Metadata().RowGroups) == 0 {
		return []T{}, nil // most tables of most recordings
	}
	reader := parquet.NewGenericReader[T](file, schema)
	defer reader.Close()
	rows := make([]T, 0, wanted) // vetted: the pages hold that many
	batch := make([]T, min(rowsPerBatch, wanted+1))
	fields := stringFields[T]()
	in := &interner{known: map[string]string{}}
	for {
		// One row more than there should be finds the end; for each row after the
		// end the library would try, and allocate, once more for every column.
		batch = batch[:min(int64(len(batch)), wanted-int64(len(rows))+1)]
		clear(batch) // the reader fills slices of earlier rows again
		n, err := reader.Read(batch)
		internStrings(in, fields, batch[:n])
		rows = append(rows, batch[:n]...)
		if int64(len(rows)) > wanted {
			return nil, fmt.Errorf("it has more rows than the %d it names", wanted)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, oneLine(err)
		}
		if n == 0 {
			return nil, io.ErrNoProgress
		}
	}
	if int64(len(rows)) != wanted {
		return nil, fmt.Errorf("it has %d rows and not the %d it names", len(rows), wanted)
	}
	return rows, nil
}

func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}

// checkColumns wants every column of ours in the file, of the same type; more columns do no harm,
// and those that came with a later schema are optional.
func checkColumns(ours, theirs *parquet.Schema) error {
	for _, path := range ours.Columns() {
		name := strings.Join(path, ".")
		want, _ := ours.Lookup(path...)
		got, ok := theirs.Lookup(path...)
		if !ok && want.Node.Optional() {
			continue
		}
		if !ok {
			return fmt.Errorf("column %s is missing", name)
		}
		if !got.Node.Leaf() || got.Node.Type().Kind() != want.Node.Type().Kind() ||
			got.MaxRepetitionLevel != want.MaxRepetitionLevel || got.MaxDefinitionLevel != want.MaxDefinitionLevel {
			return fmt.Errorf("column %s has another type (%s)", name, oneLine(errors.New(got.Node.String())))
		}
	}
	return nil
}

// vetFooter looks at the list and text lengths in the file's metadata before
// the library makes room for them.
func vetFooter(source io.ReaderAt, size int64) error {
	if size < 12 {
		return io.ErrUnexpectedEOF
	}
	var tail [8]byte
	if _, err := source.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	if string(tail[4:]) != "PAR1" || length > maxFooter || length > size-12 {
		return errors.New("it does not end as a Parquet file does")
	}
	footer := make([]byte, length)
	if _, err := source.ReadAt(footer, size-8-length); err != nil {
		return err
	}
	used, err := skimStruct(footer)
	if err == nil && used != len(footer) {
		err = errors.New("metadata ends early")
	}
	return err
}

// vetRows checks that the counts of rows agree with each other and with the limit.
func vetRows(file *parquet.File, limit int64) error {
	metadata := file.Metadata()
	if metadata.NumRows < 0 || metadata.NumRows > limit {
		return fmt.Errorf("%d rows are more than the limit of %d", metadata.NumRows, limit)
	}
	left := metadata.NumRows
	for _, group := range metadata.RowGroups {
		if group.NumRows < 0 || group.NumRows > left {
			return fmt.Errorf("row groups have more rows than the %d it names", metadata.NumRows)
		}
		left -= group.NumRows
		if len(group.Columns) != len(file.Schema().Columns()) {
			return fmt.Errorf("a row group has %d columns and not %d", len(group.Columns), len(file.Schema().Columns()))
		}
		for i := range group.Columns {
			if err := vetColumnValues(file, &group.Columns[i], i, group.NumRows); err != nil {
				return err
			}
		}
	}
	return nil
}

func vetColumnValues(file *parquet.File, chunk *format.ColumnChunk, number int, rows int64) error {
	path := file.Schema().Columns()[number]
	leaf, _ := file.Schema().Lookup(path...)
	values := chunk.MetaData.NumValues
	if leaf.MaxRepetitionLevel == 0 && values != rows || values < rows || values > maxListElements {
		return fmt.Errorf("column %s has %d values in %d rows", strings.Join(path, "."), values, rows)
	}
	if chunk.FilePath != "" {
		return fmt.Errorf("column %s lies in another file", strings.Join(path, "."))
	}
	return nil
}
