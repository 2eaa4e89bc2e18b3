package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/top"
)

// ownTime is the CPU time of this process so far.
func ownTime() time.Duration {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// appendJSON writes a line; the first one makes the file.
func appendJSON(w world, path string, view *top.View, first bool) error {
	line, err := json.Marshal(view)
	if err != nil {
		return fmt.Errorf("write look: %w", err)
	}
	line = append(line, '\n')
	if path == "-" {
		_, err = w.stdout.Write(line)
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if first {
		mode |= os.O_TRUNC
	}
	file, err := os.OpenFile(path, mode, 0o644)
	if err != nil {
		return fmt.Errorf("write look: %w", err)
	}
	_, err = file.Write(line)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write look: %w", err)
	}
	return nil
}
