package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"culprit/cases/child"
	"culprit/internal/agent/spool"
	"culprit/internal/compare/prepare"
	"culprit/internal/fleet/window"
	"culprit/recording"
)

// service is the name under which the nodes are asked for.
const service = "node"

const (
	agentFolder = "agent"
	fleetFolder = "fleet"
	windowEvery = 15 * time.Second
)

// watch has an agent record the host while the nodes have work, and makes windows of each node of
// its.
func watch(ctx context.Context, o options, folder string, nodes []*node) error {
	agent := child.Command(ctx, filepath.Join(o.binary, "culprit"), "agent", "--dir", filepath.Join(folder, agentFolder),
		"--every", windowEvery.String(), "--full", "0", "--full-for", "0s", "--cost", "0", "--requests")
	agent.Stderr = os.Stderr
	if err := agent.Start(); err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%d nodes are recorded for %v\n", len(nodes), o.length)
	working, end := context.WithTimeout(ctx, o.length)
	defer end()
	err := load(working, nodes)
	if failed := agent.Process.Signal(os.Interrupt); failed != nil && err == nil {
		err = failed
	}
	if failed := agent.Wait(); failed != nil && err == nil {
		err = fmt.Errorf("the agent: %w", failed)
	}
	if err != nil {
		return err
	}
	return cut(folder, nodes)
}

// cut makes of each window of the host one of each node.
func cut(folder string, nodes []*node) error {
	kept := filepath.Join(folder, agentFolder)
	entries, err := spool.List(kept)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		manifest, err := spool.ManifestOf(kept, entry)
		if err != nil {
			return err
		}
		whole, err := recording.Open(spool.RecordingOf(kept, entry))
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if err := n.window(filepath.Join(folder, fleetFolder, n.name, entry.Name), manifest, whole); err != nil {
				return fmt.Errorf("cut %s: %w", n.name, err)
			}
		}
	}
	return nil
}

// window writes what a window of the host tells of the node, as its own; none where it had no work.
func (n *node) window(place string, of *window.Window, whole *recording.Recording) error {
	pid := int32(n.pid())
	at := slices.IndexFunc(whole.Processes, func(p recording.Process) bool { return p.Pid == pid })
	var requests, latency int64
	for i := range whole.Requests {
		if r := &whole.Requests[i]; r.Pid == pid && r.Side == recording.SideServer {
			requests, latency = requests+r.Count, latency+r.TotalNs
		}
	}
	if at < 0 || requests == 0 {
		return nil
	}
	part := prepare.Of(whole, []int32{pid}, "service "+service)
	var file bytes.Buffer
	if err := recording.Encode(&file, part); err != nil {
		return err
	}
	id, size, err := window.ContentID(bytes.NewReader(file.Bytes()))
	if err != nil {
		return err
	}
	w := *of
	w.Content, w.Bytes, w.Host = id, size, n.name
	w.Services = []window.Service{{Name: service, CPUNs: whole.Processes[at].CPUNs, Requests: &requests,
		LatencyNs: &latency, Process: fmt.Sprint(pid), Pids: []int32{pid}}}
	text, err := w.Manifest()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(place+window.ManifestSuffix, text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(place+window.RecordingSuffix, file.Bytes(), 0o644)
}
