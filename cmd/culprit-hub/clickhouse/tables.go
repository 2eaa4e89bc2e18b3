package clickhouse

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"culprit/internal/fleet/store"
)

func columnsOf(table store.Definition) (names []string) {
	for _, column := range table.Columns {
		names = append(names, column.Name)
	}
	return names
}

// quote makes a name of one word that has a '-' fit for a statement; others do not come here.
func quote(name string) string { return "`" + name + "`" }

func (s *shard) rowsName() string { return s.name + "_rows" }

// make creates what is missing.
func (s *shard) make(ctx context.Context) error {
	if err := s.checkCluster(ctx); err != nil {
		return err
	}
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + quote(s.rowsName()),
		"CREATE TABLE IF NOT EXISTS " + quote(s.rowsName()) + ".owner (id String) ENGINE = MergeTree ORDER BY id"}
	for _, table := range store.Tables {
		statements = append(statements, createTable(s.rowsName(), table))
	}
	if s.engine.cluster != "" {
		statements = append(statements, "CREATE DATABASE IF NOT EXISTS "+quote(s.name))
		for _, table := range store.Tables {
			statements = append(statements, fmt.Sprintf(
				"CREATE TABLE IF NOT EXISTS %s.%s AS %s.%s ENGINE = Distributed('%s', '%s', %s)",
				quote(s.name), table.Name, quote(s.rowsName()), table.Name, escape(s.engine.cluster), escape(s.rowsName()),
				table.Name))
		}
	}
	for _, statement := range statements {
		if err := s.admin.Exec(ctx, statement); err != nil {
			return s.down(err)
		}
	}
	if err := s.checkTables(ctx); err != nil {
		return err
	}
	return s.checkOwner(ctx)
}

// checkTables refuses tables of another version.
func (s *shard) checkTables(ctx context.Context) error {
	for _, table := range store.Tables {
		if _, err := query(ctx, s.rows, "SELECT "+strings.Join(columnsOf(table), ", ")+" FROM "+table.Name+" LIMIT 0",
			nil); err != nil {
			return fmt.Errorf("table %s.%s on %s is of another version of culprit-hub: give another database in --dsn, "+
				"and 'culprit-hub fill' makes it from the files that are kept (%w)", s.rowsName(), table.Name, s.address, err)
		}
	}
	return nil
}

func escape(text string) string { return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) }

func createTable(database string, table store.Definition) string {
	types := map[store.Kind]string{store.Int: "Int64", store.Text: "String", store.Real: "Float64"}
	var columns []string
	for _, column := range table.Columns {
		columns = append(columns, column.Name+" "+types[column.Kind])
	}
	text := "CREATE TABLE IF NOT EXISTS " + quote(database) + "." + table.Name + " (" + strings.Join(columns, ", ") +
		") ENGINE = MergeTree"
	if table.Time != "" {
		text += " PARTITION BY intDiv(" + table.Time + ", " + strconv.Itoa(store.Day) + ")"
	}
	return text + " ORDER BY (" + strings.Join(table.Order, ", ") + ")"
}

// checkCluster holds what the server knows as the cluster against the DSN.
func (s *shard) checkCluster(ctx context.Context) error {
	if s.engine.cluster == "" {
		return nil
	}
	found, err := query(ctx, s.admin, "SELECT count(*), count(DISTINCT shard_num) FROM system.clusters WHERE cluster = ?",
		[]any{s.engine.cluster})
	if err != nil {
		return s.down(err)
	}
	var servers, shards int64
	for found.Next() {
		if err := found.Scan(&servers, &shards); err != nil {
			return err
		}
	}
	switch wanted := int64(len(s.engine.shards)); {
	case servers == 0:
		return fmt.Errorf("%s knows no cluster %q: name it in remote_servers of its configuration", s.address,
			s.engine.cluster)
	case servers != shards:
		return fmt.Errorf("cluster %q has %d servers in %d shards: several replicas of a shard are not supported",
			s.engine.cluster, servers, shards)
	case shards != wanted:
		return fmt.Errorf("cluster %q has %d shards and --dsn names %d servers", s.engine.cluster, shards, wanted)
	}
	return nil
}

// checkOwner makes sure that no other directory's store writes here: both would use the same
// numbers.
func (s *shard) checkOwner(ctx context.Context) error {
	found, err := query(ctx, s.rows, "SELECT id FROM owner", nil)
	if err != nil {
		return s.down(err)
	}
	for found.Next() {
		var id string
		if err := found.Scan(&id); err != nil {
			return err
		}
		if id != s.engine.owner {
			return fmt.Errorf("database %s on %s belongs to the store of another directory: "+
				"give that one in --store, or another database in --dsn", s.rowsName(), s.address)
		}
		return nil
	}
	block, err := s.rows.PrepareBatch(ctx, "INSERT INTO owner (id)")
	if err == nil {
		if err = block.Append(s.engine.owner); err == nil {
			err = block.Send()
		}
	}
	if err != nil {
		return s.down(err)
	}
	return nil
}

// ownerOf is the name that a store's directory has for all its life.
func ownerOf(directory string) (string, error) {
	path := filepath.Join(directory, "owner")
	text, err := os.ReadFile(path)
	if err == nil && len(text) > 0 {
		return string(text), nil
	}
	if err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("open store: %w", err)
	}
	id := rand.Text()
	if err := writeWhole(path, []byte(id)); err != nil {
		return "", fmt.Errorf("open store: %w", err)
	}
	return id, nil
}

// Forget drops whole days, and the facts of hosts that have no windows any more.
func (e *Engine) Forget(ctx context.Context, number int, before int64) error {
	s := e.shards[number]
	if err := s.ready(ctx); err != nil {
		return err
	}
	for _, table := range store.Tables {
		if table.Time == "" {
			continue
		}
		if err := s.forget(ctx, table, before-table.Lasts); err != nil {
			return s.down(err)
		}
	}
	const gone = "since_s < ? AND host NOT IN (SELECT host FROM windows)"
	found, err := query(ctx, s.rows, "SELECT count(*) FROM facts WHERE "+gone, []any{before})
	if err != nil {
		return s.down(err)
	}
	count := int64(0)
	for found.Next() {
		if err := found.Scan(&count); err != nil {
			return err
		}
	}
	if count == 0 {
		return nil
	}
	text := "ALTER TABLE facts DELETE WHERE since_s < " + strconv.FormatInt(before, 10) +
		" AND host NOT IN (SELECT host FROM " + quote(s.rowsName()) + ".windows)"
	if err := s.rows.Exec(ctx, text); err != nil {
		return s.down(err)
	}
	return s.mutated(ctx)
}

// forget drops the partitions of a table whose days are over by then.
func (s *shard) forget(ctx context.Context, table store.Definition, before int64) error {
	found, err := query(ctx, s.admin, `SELECT DISTINCT partition FROM system.parts WHERE database = ? AND table = ?
AND active ORDER BY partition`, []any{s.rowsName(), table.Name})
	if err != nil {
		return err
	}
	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			return err
		}
		day, err := strconv.ParseInt(text, 10, 64)
		if err != nil || (day+1)*store.Day > before {
			continue
		}
		if err := s.rows.Exec(ctx, "ALTER TABLE "+table.Name+" DROP PARTITION "+text); err != nil {
			return err
		}
	}
	return nil
}

// mutated waits until rows are deleted: what the store reads then is what stays.
func (s *shard) mutated(ctx context.Context) error {
	for range 600 {
		found, err := query(ctx, s.admin, "SELECT count(*) FROM system.mutations WHERE database = ? AND is_done = 0",
			[]any{s.rowsName()})
		if err != nil {
			return s.down(err)
		}
		left := int64(0)
		for found.Next() {
			if err := found.Scan(&left); err != nil {
				return err
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return s.down(fmt.Errorf("facts of hosts that are gone are not deleted after a minute"))
}
