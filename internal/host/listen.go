package host

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Listener is a socket that waits for connections: over TCP on a port, or at a path.
type Listener struct {
	Port  int
	Path  string
	inode string
}

// String names it in messages.
func (l Listener) String() string {
	if l.Port > 0 {
		return "port " + strconv.Itoa(l.Port)
	}
	return l.Path
}

// The limits of what is read of a network namespace, which a stranger may have filled.
const (
	maxSocketTable = 64 << 20
	maxListeners   = 4096
	maxDescriptors = 1 << 16
)

// Listening lists the sockets that these processes hold and wait for connections at. Processes of
// others than the first's network namespace are looked at in their own.
func Listening(root string, pids []int) (found []Listener) {
	tables := map[string][]Listener{} // by namespace
	for _, pid := range pids {
		folder := filepath.Join(root, "proc", strconv.Itoa(pid))
		namespace, err := os.Readlink(filepath.Join(folder, "ns/net"))
		if err != nil {
			continue // it has ended, or is another user's
		}
		if _, known := tables[namespace]; !known {
			tables[namespace] = listenersOf(folder)
		}
		held := socketsOf(folder)
		for _, listener := range tables[namespace] {
			if held[listener.inode] && !slices.Contains(found, listener) {
				found = append(found, listener)
			}
		}
	}
	return found
}

// socketsOf are the inodes of the sockets that a process has descriptors of.
func socketsOf(folder string) map[string]bool {
	directory, err := os.Open(filepath.Join(folder, "fd"))
	if err != nil {
		return nil
	}
	defer directory.Close()
	names, err := directory.Readdirnames(maxDescriptors)
	if err != nil && len(names) == 0 {
		return nil
	}
	inodes := map[string]bool{}
	for _, name := range names {
		target, _ := os.Readlink(filepath.Join(folder, "fd", name)) // "" of one that was closed meanwhile
		if inode, is := strings.CutPrefix(target, "socket:["); is {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return inodes
}

// listenersOf reads the tables of a process's network namespace.
func listenersOf(folder string) (found []Listener) {
	for _, name := range []string{"tcp", "tcp6", "unix"} {
		file, err := os.Open(filepath.Join(folder, "net", name))
		if err != nil {
			continue // a kernel without IPv6
		}
		found = append(found, parseListeners(file, name == "unix")...)
		file.Close()
	}
	return found[:min(len(found), maxListeners)]
}

func parseListeners(in io.Reader, unix bool) (found []Listener) {
	scanner := bufio.NewScanner(io.LimitReader(in, maxSocketTable))
	for scanner.Scan() && len(found) < maxListeners {
		parse := parseTCP
		if unix {
			parse = parseUnix
		}
		if listener, is := parse(strings.Fields(scanner.Text())); is {
			found = append(found, listener)
		}
	}
	return found
}

// parseTCP reads a line of /proc/net/tcp: sl, local_address, rem_address, st, …, inode (the tenth).
func parseTCP(fields []string) (Listener, bool) {
	const listen = "0A" // TCP_LISTEN
	if len(fields) < 10 || fields[3] != listen {
		return Listener{}, false
	}
	_, text, _ := strings.Cut(fields[1], ":")
	port, err := hex.DecodeString(text)
	if err != nil || len(port) != 2 {
		return Listener{}, false
	}
	return Listener{Port: int(port[0])<<8 | int(port[1]), inode: fields[9]}, true
}

// parseUnix reads a line of /proc/net/unix: Num, RefCount, Protocol, Flags, Type, St, Inode, Path.
func parseUnix(fields []string) (Listener, bool) {
	const accepts = 0x10000 // __SO_ACCEPTCON
	if len(fields) < 8 {
		return Listener{}, false
	}
	flags, err := strconv.ParseUint(fields[3], 16, 32)
	if err != nil || flags&accepts == 0 {
		return Listener{}, false
	}
	return Listener{Path: strings.Join(fields[7:], " "), inode: fields[6]}, true
}

// WhoListens finds the processes that wait for connections on a TCP port, in order of their ids: in
// this process's network namespace, or where nobody does there in the only other one that has the
// port.
func WhoListens(root string, port int) ([]int, error) {
	byNamespace, order := map[string][]int{}, []string{}
	for _, pid := range processes(root) {
		namespace, err := os.Readlink(filepath.Join(root, "proc", strconv.Itoa(pid), "ns/net"))
		if err != nil {
			continue
		}
		if byNamespace[namespace] == nil {
			order = append(order, namespace)
		}
		byNamespace[namespace] = append(byNamespace[namespace], pid)
	}
	own, _ := os.Readlink(filepath.Join(root, "proc/self/ns/net"))
	var others [][]int
	for _, namespace := range order {
		pids := holdersOf(root, port, byNamespace[namespace])
		if len(pids) > 0 && namespace == own {
			return pids, nil
		}
		if len(pids) > 0 {
			others = append(others, pids)
		}
	}
	switch len(others) {
	case 0:
		return nil, fmt.Errorf("nobody listens on TCP port %d; `ss -ltnp` lists who listens where", port)
	case 1:
		return others[0], nil
	}
	return nil, fmt.Errorf("port %d is listened on in %d network namespaces (processes %d and %d …); give pid:N of "+
		"the one that is meant", port, len(others), others[0][0], others[1][0])
}

// holdersOf are the processes of one network namespace that listen on a port.
func holdersOf(root string, port int, pids []int) (holders []int) {
	folder := func(pid int) string { return filepath.Join(root, "proc", strconv.Itoa(pid)) }
	var inodes []string
	for _, listener := range listenersOf(folder(pids[0])) {
		if listener.Port == port {
			inodes = append(inodes, listener.inode)
		}
	}
	if len(inodes) == 0 {
		return nil
	}
	for _, pid := range pids {
		held := socketsOf(folder(pid))
		if slices.ContainsFunc(inodes, func(inode string) bool { return held[inode] }) {
			holders = append(holders, pid)
		}
	}
	return holders
}

// processes lists all process ids, in order.
func processes(root string) (pids []int) {
	entries, err := os.ReadDir(filepath.Join(root, "proc"))
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}
