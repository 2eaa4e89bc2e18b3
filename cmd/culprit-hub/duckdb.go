package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/duckdb/duckdb-go/v2"

	"culprit/internal/fleet/store"
)

// duck is the embedded engine: one file in the tenant's directory.
type duck struct {
	path  string
	mutex sync.Mutex
	// Both are nil after DuckDB gave its database up, as it does when the disk is full; it is
	// opened again then.
	database *sql.DB
	writer   *sql.Conn
}

// The file's name, and how much of the host DuckDB may use.
const (
	databaseFile = "rows.duckdb"
	settings     = "threads=2&memory_limit=1GB"
)

// openDuck opens or makes the database of a directory.
func openDuck(ctx context.Context, directory, _ string) (store.Engine, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	d := &duck{path: filepath.Join(directory, databaseFile)}
	if _, _, err := d.use(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// use returns the database, opened again where that is needed.
func (d *duck) use(ctx context.Context) (*sql.DB, *sql.Conn, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.database != nil {
		return d.database, d.writer, nil
	}
	database, err := sql.Open("duckdb", d.path+"?"+settings)
	if err != nil {
		return nil, nil, d.openError(err)
	}
	writer, err := database.Conn(ctx)
	if err == nil {
		err = makeTables(ctx, writer, d.path)
	}
	if err != nil {
		database.Close()
		return nil, nil, d.openError(err)
	}
	d.database, d.writer = database, writer
	return database, writer, nil
}

func (d *duck) openError(err error) error {
	if strings.Contains(err.Error(), "Conflicting lock") {
		return fmt.Errorf("%s is open in another culprit-hub: ask that one with --hub URL, or end it", d.path)
	}
	return fmt.Errorf("open %s: %w", d.path, err)
}

// failed closes a database that DuckDB has given up: it takes nothing more until it is opened
// again.
func (d *duck) failed(err error) error {
	if err == nil || !strings.Contains(err.Error(), "FATAL") && !strings.Contains(err.Error(), "invalidated") {
		return err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.database != nil {
		d.writer.Close()
		d.database.Close()
		d.database, d.writer = nil, nil
	}
	return err
}

func makeTables(ctx context.Context, writer *sql.Conn, path string) error {
	for _, table := range store.Tables {
		if _, err := writer.ExecContext(ctx, createTable(table)); err != nil {
			return err
		}
		// Another version's tables have other columns.
		if _, err := writer.ExecContext(ctx, "SELECT "+columnsOf(table)+" FROM "+table.Name+" LIMIT 0"); err != nil {
			return fmt.Errorf("it was made by another version of culprit-hub: move %s away, "+
				"and 'culprit-hub fill' makes it anew from the files that are kept (%w)", path, err)
		}
	}
	return nil
}

func columnsOf(table store.Definition) string {
	var names []string
	for _, column := range table.Columns {
		names = append(names, column.Name)
	}
	return strings.Join(names, ", ")
}

// Shards is one.
func (d *duck) Shards() int { return 1 }

func createTable(table store.Definition) string {
	types := map[store.Kind]string{store.Int: "BIGINT", store.Text: "VARCHAR", store.Real: "DOUBLE"}
	var columns []string
	for _, column := range table.Columns {
		columns = append(columns, column.Name+" "+types[column.Kind]+" NOT NULL")
	}
	return "CREATE TABLE IF NOT EXISTS " + table.Name + " (" + strings.Join(columns, ", ") + ")"
}

// Query runs beside the writer, on what is committed.
func (d *duck) Query(ctx context.Context, text string, arguments ...any) (store.Rows, []string, error) {
	found, err := d.QueryShard(ctx, 0, text, arguments...)
	return found, nil, err
}

// QueryShard is the same.
func (d *duck) QueryShard(ctx context.Context, _ int, text string, arguments ...any) (store.Rows, error) {
	database, _, err := d.use(ctx)
	if err != nil {
		return nil, err
	}
	found, err := database.QueryContext(ctx, text, arguments...)
	return found, d.failed(err)
}

// Append writes in one transaction.
func (d *duck) Append(ctx context.Context, _ int, _ int64, batches []store.Batch) error {
	return d.transaction(ctx, func(writer *sql.Conn) error {
		return writer.Raw(func(connection any) error { return appendAll(connection.(driver.Conn), batches) })
	})
}

// transaction does all of it or nothing.
func (d *duck) transaction(ctx context.Context, do func(*sql.Conn) error) error {
	_, writer, err := d.use(ctx)
	if err != nil {
		return err
	}
	if _, err := writer.ExecContext(ctx, "BEGIN"); err != nil {
		return d.failed(err)
	}
	if err = do(writer); err == nil {
		_, err = writer.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// After a failed commit there is none to roll back, and its error would hide the first.
		writer.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return d.failed(err)
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

// Forget drops old rows of the tables that have a time, and the facts of hosts without windows.
func (d *duck) Forget(ctx context.Context, _ int, before int64) error {
	err := d.transaction(ctx, func(writer *sql.Conn) error {
		for _, table := range store.Tables {
			if table.Time == "" {
				continue
			}
			if _, err := writer.ExecContext(ctx, "DELETE FROM "+table.Name+" WHERE "+table.Time+" < ?",
				before-table.Lasts); err != nil {
				return err
			}
		}
		_, err := writer.ExecContext(ctx,
			"DELETE FROM facts WHERE since_s < ? AND host NOT IN (SELECT host FROM windows)", before)
		return err
	})
	if err != nil {
		return err
	}
	_, writer, err := d.use(ctx)
	if err == nil {
		_, err = writer.ExecContext(ctx, "CHECKPOINT")
	}
	return d.failed(err)
}

func (d *duck) Close() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.database == nil {
		return nil
	}
	d.writer.Close()
	return d.database.Close()
}
