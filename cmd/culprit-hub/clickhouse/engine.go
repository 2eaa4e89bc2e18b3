// Package clickhouse is the store of a fleet on a ClickHouse cluster, 18.16 or later. The hosts of
// the DSN are the shards, in the order of their numbers; the servers know them as the cluster that
// it names:
//
//	clickhouse://user:password@ch1:9000,ch2:9000/culprit?cluster=culprit
//
// A tenant has two databases on each server: culprit_TENANT_rows with the shard's rows, and
// culprit_TENANT with tables over all shards, made when they are missing. A shard that does not
// answer is left out of a query and named; which attempts may be there in part is written to a file
// of the store's directory before they begin.
//
// It refuses a cluster that is not what the DSN says, one with several replicas of a shard, and a
// database that belongs to another directory.
package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sys/unix"

	"culprit/internal/fleet/store"
)

// Times after which a server counts as one that does not answer.
const (
	pingTime = 2 * time.Second
	dialTime = 2 * time.Second
	// settleTime is what it may take to make tables, or to give up an attempt.
	settleTime = 20 * time.Second
	// downFor is how long one that did not answer is not asked again.
	downFor = 3 * time.Second
	// watchEvery is how often servers are looked at while they answer; hangTime is what it may take
	// without one.
	watchEvery = 3 * time.Second
	hangTime   = 30 * time.Second
)

// Engine is one tenant's part of a cluster.
type Engine struct {
	shards  []*shard
	cluster string // "": one server, without tables over all
	journal *journal
	lock    *os.File
	owner   string
	reads   bool // it makes and writes nothing: another one's rows are asked
}

// Address is a DSN that was read.
type Address struct {
	options *driver.Options
	cluster string
}

// Parse reads a DSN.
func Parse(dsn string) (*Address, error) {
	at, err := url.Parse(dsn)
	if err != nil || at.Scheme != "clickhouse" || at.Host == "" {
		// Not the text of the error: it has the password.
		return nil, errors.New("--dsn is no clickhouse://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?cluster=NAME")
	}
	query := at.Query()
	cluster := query.Get("cluster")
	query.Del("cluster")
	at.RawQuery = query.Encode()
	options, err := driver.ParseDSN(at.String())
	if err != nil {
		return nil, errors.New("--dsn has an option that is none: cluster, secure, skip_verify, dial_timeout are some")
	}
	if len(options.Addr) > 1 && cluster == "" {
		return nil, fmt.Errorf("--dsn names %d servers: add ?cluster=NAME, the name by which they know each other",
			len(options.Addr))
	}
	if options.Auth.Database == "" || options.Auth.Database == "default" {
		options.Auth.Database = "culprit"
	}
	options.DialTimeout = dialTime
	options.MaxOpenConns, options.MaxIdleConns = 16, 4
	options.Compression = &driver.Compression{Method: driver.CompressionLZ4}
	return &Address{options, cluster}, nil
}

// Open opens a tenant's part; a server that does not answer yet is made ready when it does. The
// directory is the tenant's: no other hub may have it.
func (a *Address) Open(ctx context.Context, directory, tenant string) (store.Engine, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(directory, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s is open in another culprit-hub: ask that one with --hub URL, or end it", directory)
	}
	e := &Engine{cluster: a.cluster, lock: lock}
	if e.journal, err = readJournal(filepath.Join(directory, "attempts.json"), len(a.options.Addr)); err != nil {
		lock.Close()
		return nil, err
	}
	if e.owner, err = ownerOf(directory); err != nil {
		lock.Close()
		return nil, err
	}
	return e, a.connect(ctx, e, tenant)
}

// OpenToRead opens a tenant's part to ask it only, beside the hub that fills it. An attempt that a
// hub did not bring to its end may be in an answer in part, until that hub has been started again.
func (a *Address) OpenToRead(ctx context.Context, tenant string) (store.Engine, error) {
	e := &Engine{cluster: a.cluster, reads: true}
	return e, a.connect(ctx, e, tenant)
}

// connect opens the connections to all shards; where it fails the engine is closed.
func (a *Address) connect(ctx context.Context, e *Engine, tenant string) error {
	name := a.options.Auth.Database + "_" + tenant
	for number, address := range a.options.Addr {
		one, err := newShard(e, number, address, name, *a.options)
		if err != nil {
			e.Close()
			return err
		}
		e.shards = append(e.shards, one)
	}
	for _, one := range e.shards {
		// What is not down but wrong is said now.
		if err := one.ready(ctx); err != nil && !errors.Is(err, store.ErrDown) {
			e.Close()
			return err
		}
	}
	return nil
}

// Shards is how many servers the DSN has.
func (e *Engine) Shards() int { return len(e.shards) }

// Close ends the connections.
func (e *Engine) Close() error {
	var all []error
	for _, one := range e.shards {
		all = append(all, one.close())
	}
	if e.lock != nil {
		// A process that another thread starts at this moment has a copy of the descriptor until it
		// executes: closing this one alone leaves the lock held.
		all = append(all, unix.Flock(int(e.lock.Fd()), unix.LOCK_UN), e.lock.Close())
	}
	return errors.Join(all...)
}

// probe tells which shards answer, and what to say of those that do not.
func (e *Engine) probe(ctx context.Context) (up []*shard, missing []string) {
	failures := make([]error, len(e.shards))
	var group sync.WaitGroup
	for i, one := range e.shards {
		group.Go(func() {
			if failures[i] = one.ready(ctx); failures[i] == nil {
				failures[i] = one.ping(ctx)
			}
		})
	}
	group.Wait()
	for i, one := range e.shards {
		if failures[i] == nil {
			up = append(up, one)
			continue
		}
		missing = append(missing, fmt.Sprintf("shard %d of %d (%s) does not answer: its hosts are not in this answer",
			i+1, len(e.shards), one.address))
	}
	return up, missing
}

// Query asks all shards. Where one does not answer it is asked again without it.
func (e *Engine) Query(ctx context.Context, text string, arguments ...any) (store.Rows, []string, error) {
	const tries = 3
	var last error
	for range tries {
		up, missing := e.probe(ctx)
		if len(up) == 0 {
			return nil, missing, fmt.Errorf("%w: none of %d answers", store.ErrDown, len(e.shards))
		}
		found, err := e.watched(ctx, up, missing, text, arguments)
		if err != nil {
			if last = err; ctx.Err() != nil {
				break
			}
			for _, one := range up {
				one.unsettle() // one may have come back without its tables
			}
			continue
		}
		// One that went away in between was left out of what was found, too.
		if len(missing) > 0 {
			if _, now := e.probe(ctx); len(now) > len(missing) {
				missing = now
			}
		}
		return found, missing, nil
	}
	return nil, nil, last
}

// watched has one server ask those that are up, and ends that when another one goes away: one that
// hangs would be waited for as long as the servers' own receive_timeout.
func (e *Engine) watched(ctx context.Context, up []*shard, missing []string, text string,
	arguments []any) (store.Rows, error) {
	if len(missing) > 0 && len(up) == 1 {
		found, err := query(ctx, up[0].rows, text+settings, arguments) // its rows are all that there is to see
		if err != nil {
			return nil, fmt.Errorf("shard %d (%s): %w", up[0].number+1, up[0].address, err)
		}
		return found, nil
	}
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for begun := time.Now(); ; {
			select {
			case <-watched.Done():
				return
			case <-time.After(watchEvery):
			}
			_, now := e.probe(watched)
			switch {
			case len(now) > len(missing):
				cancel(errors.New(now[len(now)-1]))
			case len(missing) > 0 && time.Since(begun) > hangTime:
				cancel(fmt.Errorf("%s; it hangs: end it, or give the servers a receive_timeout of seconds",
					strings.Join(missing, "; ")))
			}
		}
	}()
	found, err := up[0].queryAll(watched, len(missing) > 0, text, arguments)
	if err != nil && watched.Err() != nil && ctx.Err() == nil {
		err = context.Cause(watched)
	}
	return found, err
}

// QueryShard asks one server for its own rows.
func (e *Engine) QueryShard(ctx context.Context, number int, text string, arguments ...any) (store.Rows, error) {
	one := e.shards[number]
	if err := one.ready(ctx); err != nil {
		return nil, err
	}
	found, err := query(ctx, one.rows, text+settings, arguments)
	if err != nil {
		return nil, one.down(err)
	}
	return found, nil
}

// Append writes to one server. An attempt that fails is given up, now or before anything else is
// done there. A query beside it may see a part of its rows for as long as it takes.
func (e *Engine) Append(ctx context.Context, number int, attempt int64, batches []store.Batch) error {
	one := e.shards[number]
	if err := one.ready(ctx); err != nil {
		return err
	}
	if err := e.journal.begin(number, attempt); err != nil {
		return err
	}
	for _, batch := range batches {
		if err := one.insert(ctx, batch); err != nil {
			one.unsettle()
			again, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
			defer cancel()
			one.ready(again) // where this fails it is done before the next thing
			return one.down(fmt.Errorf("table %s: %w", batch.Table, err))
		}
	}
	if err := e.journal.end(number, attempt); err != nil {
		one.unsettle()
		return one.down(err)
	}
	return nil
}
