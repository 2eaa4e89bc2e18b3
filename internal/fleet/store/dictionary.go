package store

import (
	"context"
	"encoding/binary"
	"hash/maphash"

	"culprit/recording"
)

// dictionary is what a shard has already: frames and stacks of the week by id, and the facts of
// each host as they were last. It holds ids and hashes only: 40 bytes for a stack or fact. One
// goroutine uses it.
type dictionary struct {
	week    int64 // its first second
	frames  map[int64]struct{}
	stacks  map[int64]struct{}
	facts   map[uint64]uint64 // hash of host and name → hash of the value
	names   map[string]map[uint64]string
	latest  map[string]int64 // start of the last window whose facts were taken
	numbers int64
	attempt int64
	seed    maphash.Seed
}

// absent is the value of a fact that a host does not have any more.
const absent = ""

func weekOf(second int64) int64 { return second - second%week }

func readDictionary(ctx context.Context, engine Engine, shard int, now int64) (*dictionary, error) {
	d := &dictionary{week: weekOf(now), frames: map[int64]struct{}{}, stacks: map[int64]struct{}{},
		facts: map[uint64]uint64{}, names: map[string]map[uint64]string{}, latest: map[string]int64{},
		seed: maphash.MakeSeed()}
	each := func(text string, one func(scan func(...any) error) error, arguments ...any) error {
		found, err := engine.QueryShard(ctx, shard, text, arguments...)
		if err != nil {
			return err
		}
		_, err = collect(found, func(scan func(...any) error) (struct{}, error) { return struct{}{}, one(scan) })
		return err
	}
	into := func(ids map[int64]struct{}) func(scan func(...any) error) error {
		return func(scan func(...any) error) error { return scanInto(scan, ids) }
	}
	if err := each("SELECT DISTINCT id FROM frames WHERE week_s = ?", into(d.frames), d.week); err != nil {
		return nil, err
	}
	if err := each("SELECT DISTINCT stack FROM stack_frames WHERE week_s = ?", into(d.stacks), d.week); err != nil {
		return nil, err
	}
	const facts = `SELECT host, name, value, since_s FROM facts WHERE attempt NOT IN (SELECT attempt FROM aborted)
ORDER BY since_s`
	if err := each(facts, func(scan func(...any) error) error {
		var host, name, value string
		var since int64
		if err := scan(&host, &name, &value, &since); err != nil {
			return err
		}
		d.latest[host] = since
		d.set(host, name, value)
		return nil
	}); err != nil {
		return nil, err
	}
	highest := func(scan func(...any) error) error {
		var attempt, number int64
		err := scan(&attempt, &number)
		d.attempt, d.numbers = max(d.attempt, attempt), max(d.numbers, number)
		return err
	}
	if err := each("SELECT coalesce(max(attempt), 0), coalesce(max(number), 0) FROM windows", highest); err != nil {
		return nil, err
	}
	// A number that was given up must not come again: its rows are left out.
	return d, each("SELECT coalesce(max(attempt), 0), 0 FROM aborted", highest)
}

func scanInto(scan func(...any) error, ids map[int64]struct{}) error {
	var id int64
	if err := scan(&id); err != nil {
		return err
	}
	ids[id] = struct{}{}
	return nil
}

// giveUp leaves the numbers of a group that failed unused.
func (d *dictionary) giveUp(n *draft) { d.numbers, d.attempt = n.numbers, n.attempt }

func (d *dictionary) hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.WriteString(part)
	}
	return h.Sum64()
}

// set notes a fact and says whether it is another than before.
func (d *dictionary) set(host, name, value string) bool {
	key, hash := d.hash(host, name), d.hash(value)
	if old, there := d.facts[key]; there && old == hash {
		return false
	}
	d.facts[key] = hash
	if d.names[host] == nil {
		d.names[host] = map[uint64]string{}
	}
	if value == absent {
		delete(d.names[host], key)
	} else {
		d.names[host][key] = name
	}
	return true
}

// draft is what a group adds; it becomes part of the dictionary when the group is committed. Only
// the committer makes one, one at a time.
type draft struct {
	of      *dictionary
	frames  map[int64]struct{}
	stacks  map[int64]struct{}
	numbers int64
	attempt int64
	facts   []hostFact
	latest  map[string]int64
	seen    map[[2]string]string
}

type hostFact struct{ host, name, value string }

func (d *dictionary) draft() *draft {
	return &draft{of: d, frames: map[int64]struct{}{}, stacks: map[int64]struct{}{}, numbers: d.numbers,
		attempt: d.attempt + 1, latest: map[string]int64{}, seen: map[[2]string]string{}}
}

func (d *dictionary) take(n *draft) {
	for id := range n.frames {
		d.frames[id] = struct{}{}
	}
	for id := range n.stacks {
		d.stacks[id] = struct{}{}
	}
	for _, fact := range n.facts {
		d.set(fact.host, fact.name, fact.value)
	}
	for host, start := range n.latest {
		d.latest[host] = start
	}
	d.numbers, d.attempt = n.numbers, n.attempt
}

func (n *draft) number() int64 {
	n.numbers++
	return n.numbers
}

func (n *draft) newFrame(id int64) bool { return isNew(id, n.of.frames, n.frames) }
func (n *draft) newStack(id int64) bool { return isNew(id, n.of.stacks, n.stacks) }

func isNew(id int64, known, added map[int64]struct{}) bool {
	if _, there := known[id]; there {
		return false
	}
	if _, there := added[id]; there {
		return false
	}
	added[id] = struct{}{}
	return true
}

// changed are the facts that are others than in the host's window before, with those that went
// away. A window that comes late, after a later one of its host, changes nothing.
func (n *draft) changed(host string, start int64, facts []recording.Fact) []recording.Fact {
	last, inGroup := n.latest[host]
	if !inGroup {
		last = n.of.latest[host]
	}
	if start < last || len(facts) == 0 {
		return nil
	}
	n.latest[host] = start
	var changed []recording.Fact
	here := map[string]bool{}
	note := func(fact recording.Fact) {
		if n.isOther(host, fact.Name, fact.Value) {
			n.seen[[2]string{host, fact.Name}] = fact.Value
			n.facts = append(n.facts, hostFact{host, fact.Name, fact.Value})
			changed = append(changed, fact)
		}
	}
	for _, fact := range facts {
		if !here[fact.Name] {
			here[fact.Name] = true
			note(fact)
		}
	}
	for _, name := range n.of.names[host] {
		if !here[name] {
			note(recording.Fact{Name: name, Value: absent})
		}
	}
	return changed
}

func (n *draft) isOther(host, name, value string) bool {
	if before, there := n.seen[[2]string{host, name}]; there {
		return before != value
	}
	old, there := n.of.facts[n.of.hash(host, name)]
	return !there && value != absent || there && old != n.of.hash(value)
}
