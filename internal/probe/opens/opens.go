// Package opens tells which files of code the target opens: programs and libraries, modules of scripts, archives of
// classes, each once a window, with the path as the target sees it. A process of a millisecond is seen as well as one
// that stays. What was opened before the window is not seen; /proc tells what of that is still mapped.
//
// Only the kernel's own hook at every open is used (security_file_open, where bpf_d_path is allowed): a kernel without
// it, before 5.10 or built without security modules, has no such probe.
package opens

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
)

//go:generate ../bpf/generate.sh opens -type event

// maxEvents bounds the files of a window: at some 420 bytes each, 7 MB.
const maxEvents = 16384

// Session is the loaded probe.
type Session struct {
	misses     bpf.Misses
	collection *ebpf.Collection
	ring       *bpf.Ring[opensEvent]
	links      []link.Link
}

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadOpens()
	if err != nil {
		return nil, fmt.Errorf("read program of opens: %w", err)
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		return nil, fmt.Errorf("load opens: %w", err)
	}
	ring, err := bpf.NewRing[opensEvent](collection.Maps["events"], maxEvents)
	if err != nil {
		collection.Close()
		return nil, err
	}
	return &Session{collection: collection, ring: ring}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "opens" }

// Attach attaches the program, which sees nothing yet.
func (s *Session) Attach() error {
	links, err := bpf.AttachTracing(s.collection, "file_opened")
	if err != nil {
		return err
	}
	s.links = links
	s.ring.Start()
	return nil
}

// Begins has it tell every file anew.
func (s *Session) Begins() error { return bpf.Begins(s.collection) }

// Ends has it tell no more.
func (s *Session) Ends() { _ = bpf.Ends(s.collection) } // what it tells until it is detached does no harm

// Detach ends the telling; what was seen waits for Collect.
func (s *Session) Detach() {
	bpf.CloseLinks(s.links)
	s.links = nil
	s.ring.Stop()
}

// Collect gives the files to the window, for whoever finds out what they belong to.
func (s *Session) Collect(window *bpf.Window) error {
	events, over, err := s.ring.Take()
	if err != nil {
		return err
	}
	window.Lose("opens: files over the limit", over)
	err = window.TakeLosses(s.collection.Maps["losses"], "opens: files dropped", "opens: paths too long")
	if err != nil {
		return err
	}
	s.misses.Take(window, "opens", s.collection)
	for i := range events {
		event := &events[i]
		window.Opened = append(window.Opened, bpf.OpenedFile{Path: bpf.Text(event.Path[:]), Pid: int32(event.Tgid),
			Device: event.Device, Inode: event.Inode, Mounts: event.Mounts})
	}
	return nil
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	err := s.ring.Close()
	s.collection.Close()
	return err
}
