package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"culprit/internal/fleet/store"
)

// shard is one server of the cluster.
type shard struct {
	engine  *Engine
	number  int
	address string
	name    string // of the database with tables over all shards; that with the rows ends in _rows

	admin, all, rows driver.Conn

	mutex   sync.Mutex
	settled bool // tables are there, and attempts of before are given up
	until   time.Time
	why     error
}

func newShard(e *Engine, number int, address, name string, options driver.Options) (*shard, error) {
	s := &shard{engine: e, number: number, address: address, name: name}
	options.Addr = []string{address}
	for _, pool := range []struct {
		at       *driver.Conn
		database string
	}{{&s.admin, "default"}, {&s.all, name}, {&s.rows, name + "_rows"}} {
		options.Auth.Database = pool.database
		if e.cluster == "" && pool.at == &s.all {
			options.Auth.Database = name + "_rows" // one server: its rows are all
		}
		connection, err := driver.Open(&options)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", address, err)
		}
		*pool.at = connection
	}
	return s, nil
}

func (s *shard) close() error { return errors.Join(s.admin.Close(), s.all.Close(), s.rows.Close()) }

// down says that the shard failed, with which error.
func (s *shard) down(err error) error {
	return fmt.Errorf("%w: shard %d (%s): %w", store.ErrDown, s.number+1, s.address, err)
}

// ping fails where the server does not answer in time.
func (s *shard) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	err := s.admin.Ping(ctx)
	if err != nil {
		s.rest(err)
	}
	return err
}

// rest leaves the server alone for a while, and has it made ready again: it may come back as
// another.
func (s *shard) rest(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.settled, s.until, s.why = false, time.Now().Add(downFor), err
}

func (s *shard) unsettle() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.settled = false
}

// ready makes what is missing on the server, and gives up attempts that may be there in part. It
// fails with store.ErrDown where the server does not answer.
func (s *shard) ready(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.settled {
		return nil
	}
	if time.Now().Before(s.until) {
		return s.down(s.why)
	}
	pinging, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if err := s.admin.Ping(pinging); err != nil {
		s.until, s.why = time.Now().Add(downFor), err
		return s.down(err)
	}
	making, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if s.engine.reads {
		if err := s.check(making); err != nil {
			return err
		}
		s.settled = true
		return nil
	}
	if err := s.make(making); err != nil {
		return err
	}
	if err := s.giveUp(making); err != nil {
		return s.down(err)
	}
	s.settled = true
	return nil
}

// check refuses a server that does not have what is asked for.
func (s *shard) check(ctx context.Context) error {
	if err := s.checkCluster(ctx); err != nil {
		return err
	}
	found, err := query(ctx, s.admin, "SELECT count(*) FROM system.tables WHERE database = ?", []any{s.rowsName()})
	if err != nil {
		return s.down(err)
	}
	tables := int64(0)
	for found.Next() {
		if err := found.Scan(&tables); err != nil {
			return err
		}
	}
	if tables == 0 {
		return fmt.Errorf("%s has no database %s: no culprit-hub has filled that for this tenant", s.address, s.rowsName())
	}
	return s.checkTables(ctx)
}

// giveUp names attempts that may be there in part.
func (s *shard) giveUp(ctx context.Context) error {
	attempts := s.engine.journal.giveUp(s.number)
	if len(attempts) == 0 {
		return nil
	}
	batch := store.Batch{Table: "aborted"}
	for _, attempt := range attempts {
		batch.Rows = append(batch.Rows, []any{attempt})
	}
	if err := s.insert(ctx, batch); err != nil {
		return err
	}
	return s.engine.journal.gaveUp(s.number, attempts)
}

// insert writes one block, which is there as a whole or not at all for each day.
func (s *shard) insert(ctx context.Context, batch store.Batch) error {
	var columns []string
	for _, table := range store.Tables {
		if table.Name == batch.Table {
			columns = columnsOf(table)
		}
	}
	block, err := s.rows.PrepareBatch(ctx, "INSERT INTO "+batch.Table+" ("+strings.Join(columns, ", ")+")")
	if err != nil {
		return err
	}
	for _, row := range batch.Rows {
		if err := block.Append(row...); err != nil {
			block.Abort()
			return err
		}
	}
	return block.Send()
}

// Queries need no setting of the server's own: subqueries mean a shard's own rows, since those of a
// host are together, and a shard that does not answer is an error unless it is known to be missing.
const (
	settings = ` SETTINGS join_default_strictness = 'ALL'`
	overAll  = settings + `, distributed_product_mode = 'local', receive_timeout = 60, skip_unavailable_shards = 0`
	overSome = settings + `, distributed_product_mode = 'local', receive_timeout = 5, skip_unavailable_shards = 1` +
		`, connections_with_failover_max_tries = 1`
)

// queryAll has this server ask all of them, or those that answer.
func (s *shard) queryAll(ctx context.Context, some bool, text string, arguments []any) (store.Rows, error) {
	switch {
	case s.engine.cluster == "":
		text += settings
	case some:
		text += overSome
	default:
		text += overAll
	}
	found, err := query(ctx, s.all, text, arguments)
	if err != nil {
		return nil, fmt.Errorf("shard %d (%s): %w", s.number+1, s.address, err)
	}
	return found, nil
}
