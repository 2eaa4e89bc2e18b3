package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"culprit/internal/fleet/store"
)

// duck is the embedded engine: one file in the tenant's directory.
type duck struct {
	database *sql.DB
	writer   *sql.Conn
}

// The file's name, and how much of the host DuckDB may use.
const (
	databaseFile = "rows.duckdb"
	settings     = "threads=2&memory_limit=1GB"
)

// openDuck opens or makes the database of a directory.
func openDuck(ctx context.Context, directory string) (store.Engine, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	path := filepath.Join(directory, databaseFile)
	database, err := sql.Open("duckdb", path+"?"+settings)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	writer, err := database.Conn(ctx)
	if err != nil {
		database.Close()
		if strings.Contains(err.Error(), "Conflicting lock") {
			return nil, fmt.Errorf("%s is open in another culprit-hub: ask that one with --hub URL, or end it", path)
		}
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	d := &duck{database, writer}
	for _, table := range store.Tables {
		if _, err := writer.ExecContext(ctx, createTable(table)); err != nil {
			d.Close()
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
	}
	return d, nil
}

func createTable(table store.Definition) string {
	types := map[store.Kind]string{store.Int: "BIGINT", store.Text: "VARCHAR", store.Real: "DOUBLE"}
	var columns []string
	for _, column := range table.Columns {
		columns = append(columns, column.Name+" "+types[column.Kind]+" NOT NULL")
	}
	return "CREATE TABLE IF NOT EXISTS " + table.Name + " (" + strings.Join(columns, ", ") + ")"
}

// Query runs beside the writer, on what is committed.
func (d *duck) Query(ctx context.Context, text string, arguments ...any) (store.Rows, error) {
	return d.database.QueryContext(ctx, text, arguments...)
}

// Append writes in one transaction.
func (d *duck) Append(ctx context.Context, batches []store.Batch) error {
	if _, err := d.writer.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err := d.writer.Raw(func(connection any) error { return appendAll(connection.(driver.Conn), batches) })
	if err == nil {
		_, err = d.writer.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// After a failed commit there is none to roll back, and its error would hide the first.
		d.writer.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

func appendAll(connection driver.Conn, batches []store.Batch) error {
	values := make([]driver.Value, 0, 32)
	for _, batch := range batches {
		appender, err := duckdb.NewAppenderFromConn(connection, "", batch.Table)
		if err != nil {
			return err
		}
		for _, row := range batch.Rows {
			values = values[:0]
			for _, value := range row {
				values = append(values, value)
			}
			if err := appender.AppendRow(values...); err != nil {
				appender.Close()
				return fmt.Errorf("table %s: %w", batch.Table, err)
			}
		}
		if err := appender.Close(); err != nil {
			return fmt.Errorf("table %s: %w", batch.Table, err)
		}
	}
	return nil
}

// Forget drops old rows of the tables that have a time.
func (d *duck) Forget(ctx context.Context, before int64) error {
	for _, table := range store.Tables {
		if table.Time == "" {
			continue
		}
		if _, err := d.writer.ExecContext(ctx, "DELETE FROM "+table.Name+" WHERE "+table.Time+" < ?", before); err != nil {
			return err
		}
	}
	_, err := d.writer.ExecContext(ctx, "CHECKPOINT")
	return err
}

func (d *duck) Close() error {
	d.writer.Close()
	return d.database.Close()
}
