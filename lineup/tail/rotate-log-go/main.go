// One goroutine a connection. Each request writes a line to the log, under its lock; the log is
// rotated and compressed by whoever makes it full, with the lock held.
package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
)

type accessLog struct {
	sync.Mutex
	file  *os.File
	lines int
}

const full = 600

var words = strings.Repeat("the quick brown fox jumps over the lazy dog ", 40)

func (l *accessLog) write(path string) {
	l.Lock()
	defer l.Unlock()
	fmt.Fprintln(l.file, path, l.lines*7919%104729, words)
	if l.lines++; l.lines%full == 0 {
		l.rotate()
	}
}

func (l *accessLog) rotate() {
	packed, err := os.Create(l.file.Name() + ".1.gz")
	if err != nil {
		panic(err)
	}
	writer, _ := gzip.NewWriterLevel(packed, 6)
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		panic(err)
	}
	for range 4 { // as much as a day of a larger log
		l.file.Seek(0, io.SeekStart)
		if _, err := io.Copy(writer, l.file); err != nil {
			panic(err)
		}
	}
	writer.Close()
	packed.Close()
	l.file.Truncate(0)
	l.file.Seek(0, io.SeekStart)
}

func main() {
	file, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	access := &accessLog{file: file}
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		access.write(request.URL.Path)
		io.WriteString(answer, "ok")
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
