package store

import (
	"context"
	"errors"
	"hash/fnv"
	"strconv"
)

// ErrDown says that a shard does not answer now, or takes nothing; others may.
var ErrDown = errors.New("the shard is down")

// Rows is what a query gives; *sql.Rows is one.
type Rows interface {
	Next() bool
	Scan(...any) error
	Err() error
	Close() error
}

// Batch are rows of one table, in the order of its columns.
type Batch struct {
	Table string
	Rows  [][]any
}

// Engine is a database with the tables of this package, whose rows lie on one shard or on several.
// Texts of queries are those that DuckDB and ClickHouse since 18.16 understand, with ? for each
// argument.
type Engine interface {
	Shards() int
	// Query asks all shards. Missing are those that did not answer, each in words: their rows are
	// not in what was found.
	Query(ctx context.Context, text string, arguments ...any) (found Rows, missing []string, err error)
	// QueryShard asks one, and fails with ErrDown where it does not answer.
	QueryShard(ctx context.Context, shard int, text string, arguments ...any) (Rows, error)
	// Append writes all rows to a shard, or none that a query will see. With ErrDown it is worth
	// while to try again.
	Append(ctx context.Context, shard int, attempt int64, batches []Batch) error
	// Forget drops what is not needed any more at that second, the beginning of a day.
	Forget(ctx context.Context, shard int, before int64) error
	Close() error
}

// shardOf is the shard of a host: with one shard more, only those hosts move that it gets.
func (s *Store) shardOf(host string) *shard {
	best, most := s.shards[0], uint64(0)
	for _, one := range s.shards {
		hash := fnv.New64a()
		hash.Write([]byte(strconv.Itoa(one.number) + "\x00" + host))
		if weight := spread(hash.Sum64()); weight >= most {
			best, most = one, weight
		}
	}
	return best
}

// spread mixes all bits into the highest ones, which FNV does not (the last steps of MurmurHash3).
func spread(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// collect scans all rows.
func collect[T any](found Rows, one func(scan func(...any) error) (T, error)) ([]T, error) {
	defer found.Close()
	var all []T
	for found.Next() {
		value, err := one(found.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, found.Err()
}
