package clickhouse

import (
	"context"
	"fmt"
	"reflect"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// found are all rows of a query: a server that dies while it answers is an error, not the end of
// the rows.
type found struct {
	rows [][]any
	next int
}

func query(ctx context.Context, connection driver.Conn, text string, arguments []any) (*found, error) {
	rows, err := connection.Query(ctx, text, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	result := &found{}
	types := rows.ColumnTypes()
	for rows.Next() {
		pointers := make([]any, len(types))
		for i, column := range types {
			pointers[i] = reflect.New(column.ScanType()).Interface()
		}
		if err := rows.Scan(pointers...); err != nil {
			return nil, err
		}
		row := make([]any, len(types))
		for i, pointer := range pointers {
			row[i] = reflect.ValueOf(pointer).Elem().Interface()
		}
		result.rows = append(result.rows, row)
	}
	return result, rows.Err()
}

func (f *found) Next() bool {
	f.next++
	return f.next <= len(f.rows)
}

// Scan knows the types of the store's queries.
func (f *found) Scan(into ...any) error {
	row := f.rows[f.next-1]
	if len(into) != len(row) {
		return fmt.Errorf("a row of %d columns, %d are wanted", len(row), len(into))
	}
	for i, value := range row {
		if !assign(into[i], reflect.ValueOf(value)) {
			return fmt.Errorf("column %d is of type %T and wanted as %T", i, value, into[i])
		}
	}
	return nil
}

func assign(into any, value reflect.Value) bool {
	switch into := into.(type) {
	case *int64:
		if value.CanInt() {
			*into = value.Int()
			return true
		}
		if value.CanUint() && value.Uint() < 1<<63 {
			*into = int64(value.Uint())
			return true
		}
	case *float64:
		if value.CanFloat() {
			*into = value.Float()
			return true
		}
	case *string:
		if value.Kind() == reflect.String {
			*into = value.String()
			return true
		}
	}
	return false
}

func (f *found) Err() error   { return nil }
func (f *found) Close() error { return nil }
