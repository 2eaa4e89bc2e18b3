package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"culprit/cases/child"
)

// connections are those of a node, each served by a thread of its own.
const connections = 2

// node is a process of the service.
type node struct {
	name    string
	process *exec.Cmd
	links   [connections]net.Conn
	// place is where the class lies, modulo a cache line: the truth, which only the last lines of
	// the case look at.
	place int
}

func (n *node) pid() int { return n.process.Process.Pid }

// startNodes starts all nodes; they sleep until they have work, and keep their layout until the
// end.
func startNodes(ctx context.Context, o options, folder string) (nodes []*node, err error) {
	for i := range o.nodes {
		port, err := freePort()
		if err != nil {
			return nodes, err
		}
		// Ahead of others in the queue: the two threads are to run at the same time.
		words := []string{"nice", "-n", "-20", o.java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", folder, "Node",
			fmt.Sprint(o.seed + i), fmt.Sprint(port)}
		n := &node{name: fmt.Sprintf("node-%02d", i), process: child.Command(ctx, words[0], words[1:]...)}
		if err := n.start(&nodes); err != nil {
			return nodes, err
		}
		if err := n.connect(ctx, port); err != nil {
			return nodes, fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nodes, nil
}

// start starts the node, and adds it to those that are to be ended.
func (n *node) start(nodes *[]*node) error {
	out, err := n.process.StdoutPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	n.process.Stderr = &said
	if err := n.process.Start(); err != nil {
		return fmt.Errorf("start a node: %w", err)
	}
	*nodes = append(*nodes, n)
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, failed := fmt.Sscanf(line, "class at %d", &n.place); err != nil || failed != nil {
		return fmt.Errorf("the node said %q and %s", line, said.String())
	}
	return nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func endNodes(nodes []*node) {
	for _, n := range nodes {
		_ = n.process.Process.Kill()
		_ = n.process.Wait()
		for _, link := range n.links {
			if link != nil {
				_ = link.Close()
			}
		}
	}
}

// connect opens the connections and keeps the threads that serve them on two CPUs.
func (n *node) connect(ctx context.Context, port int) (err error) {
	for i := range n.links {
		n.links[i], err = (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
	}
	if err := n.serve(1); err != nil { // the threads are there
		return err
	}
	tasks := fmt.Sprintf("/proc/%d/task", n.pid())
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return err
	}
	kept := 0
	for _, entry := range entries {
		name, err := os.ReadFile(filepath.Join(tasks, entry.Name(), "comm"))
		turn, is := strings.CutPrefix(strings.TrimSpace(string(name)), "serve-")
		if err != nil || !is {
			continue
		}
		tid, errTid := strconv.Atoi(entry.Name())
		cpu, errCPU := strconv.Atoi(turn)
		var one unix.CPUSet
		one.Set(cpu)
		if err := errors.Join(errTid, errCPU, unix.SchedSetaffinity(tid, &one)); err != nil {
			return fmt.Errorf("keep thread %s on CPU %s: %w", entry.Name(), turn, err)
		}
		kept++
	}
	if kept != connections {
		return fmt.Errorf("%d threads serve, of %d", kept, connections)
	}
	return nil
}

// serve sends so many requests on each connection, those of all connections at the same time.
func (n *node) serve(times int) error {
	answer := make([]byte, 1)
	for range times {
		deadline := time.Now().Add(20 * time.Second)
		for _, link := range n.links {
			if err := link.SetDeadline(deadline); err != nil {
				return err
			}
			if _, err := link.Write([]byte("is it?")); err != nil {
				return err
			}
		}
		for _, link := range n.links {
			if _, err := io.ReadFull(link, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// load has the nodes serve by turns, two thirds of the time, until it is over: what else the host
// does, and where the hypervisor has its CPUs, changes within seconds, and is to meet all nodes
// alike.
func load(ctx context.Context, nodes []*node) error {
	for i := 0; ctx.Err() == nil; i++ {
		begun := time.Now()
		if err := nodes[i%len(nodes)].serve(1); err != nil {
			return fmt.Errorf("%s: %w", nodes[i%len(nodes)].name, err)
		}
		time.Sleep(time.Since(begun) / 2)
	}
	return nil
}

// loadWholly has one node serve without a pause: what threads share is seen where they run at the
// same time.
func loadWholly(ctx context.Context, n *node) error {
	for ctx.Err() == nil {
		if err := n.serve(1); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	return nil
}
