package syscalls

import (
	"fmt"
	"strings"

	"culprit/internal/probe/bpf"
)

// collectOpened gives the files of code that the target opened to the window, for whoever finds out
// what they belong to. Processes of a millisecond are among their openers; a program's own file is
// opened by the kernel, which its exec tells.
func (s *Session) collectOpened(window *bpf.Window) error {
	deep := int64(0)
	err := bpf.Drain(s.collection.Maps["opened"], func(key syscallsOpenedKey, names *syscallsPathNames) {
		name := pathOf(names)
		if !strings.HasPrefix(name, "/") {
			deep++
			return
		}
		window.Opened = append(window.Opened, bpf.OpenedFile{Path: name, Mounts: key.Mounts})
	})
	if err != nil {
		return fmt.Errorf("read opened files: %w", err)
	}
	window.Lose("syscalls: files of code too deep to be named", deep)
	return nil
}
