package clickhouse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// journal is a file with the attempts of each shard that are under way, or whose end is not known.
type journal struct {
	path  string
	mutex sync.Mutex
	open  [][]int64 // by shard
	// given are those that somebody is giving up: what writes them has failed then, whatever it
	// thinks.
	given map[[2]int64]bool
}

var errGivenUp = errors.New("the attempt was given up while it was written")

func readJournal(path string, shards int) (*journal, error) {
	j := &journal{path: path, given: map[[2]int64]bool{}}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &j.open)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read attempts: %s: %w", path, err)
	}
	for len(j.open) < shards {
		j.open = append(j.open, nil)
	}
	return j, nil
}

// begin notes an attempt before anything of it is written.
func (j *journal) begin(shard int, attempt int64) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.open[shard] = append(j.open[shard], attempt)
	return j.write()
}

// end says that an attempt is there as a whole, unless it was given up.
func (j *journal) end(shard int, attempt int64) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.given[[2]int64{int64(shard), attempt}] {
		return errGivenUp
	}
	return j.remove(shard, []int64{attempt})
}

// giveUp returns the attempts that are open; from now on none of them ends well.
func (j *journal) giveUp(shard int) []int64 {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	for _, attempt := range j.open[shard] {
		j.given[[2]int64{int64(shard), attempt}] = true
	}
	return slices.Clone(j.open[shard])
}

// gaveUp forgets attempts that the shard has in its table aborted.
func (j *journal) gaveUp(shard int, attempts []int64) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.remove(shard, attempts)
}

func (j *journal) remove(shard int, attempts []int64) error {
	j.open[shard] = slices.DeleteFunc(j.open[shard], func(attempt int64) bool {
		return slices.Contains(attempts, attempt)
	})
	return j.write()
}

func (j *journal) write() error {
	text, err := json.Marshal(j.open)
	if err != nil {
		return fmt.Errorf("note attempts: %w", err)
	}
	if err := writeWhole(j.path, text); err != nil {
		return fmt.Errorf("note attempts: %w", err)
	}
	return nil
}

// writeWhole brings a file to disk before it takes the name.
func writeWhole(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
