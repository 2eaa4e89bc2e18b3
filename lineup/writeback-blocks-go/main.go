// Command tally folds records into blocks of a file that are rewritten as they fill.
package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

const (
	blockSize      = 64 << 10
	startsWriting  = 2 // SYNC_FILE_RANGE_WRITE
	betweenFlushes = 25 * time.Millisecond
)

type table struct {
	file  *os.File
	block []byte
}

func (t *table) fold(record int) uint64 {
	sum := uint64(record)
	for i := range t.block {
		sum = sum*31 + uint64(t.block[i])
		t.block[i] = byte(sum >> 11)
	}
	return sum
}

func (t *table) rewriteBlock(number int64) error {
	_, err := t.file.WriteAt(t.block, number*blockSize)
	return err
}

// flushEarly starts writing now, so that little is left for later; it does not wait.
func (t *table) flushEarly(blocks int64, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(betweenFlushes):
			_ = syscall.SyncFileRange(int(t.file.Fd()), 0, blocks*blockSize, startsWriting)
		}
	}
}

func main() {
	records, _ := strconv.Atoi(os.Args[2])
	blocks, _ := strconv.ParseInt(os.Args[3], 10, 64)
	file, err := os.OpenFile(os.Args[1], os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(2)
	}
	t := &table{file: file, block: make([]byte, blockSize)}
	done := make(chan struct{})
	go t.flushEarly(blocks, done)
	sum := uint64(0)
	for i := range records {
		sum += t.fold(i)
		if err := t.rewriteBlock(int64(i) % blocks); err != nil {
			fmt.Fprintln(os.Stderr, "tally:", err)
			os.Exit(2)
		}
	}
	close(done)
	fmt.Println(sum)
}
