package symbol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrHidden says that the kernel shows its symbols without their addresses.
var ErrHidden = errors.New("kernel addresses are hidden")

const (
	maxKernelBytes   = 256 << 20
	maxKernelModules = 1 << 14
	kernelHalf       = uint64(1) << 63 // below are per-CPU offsets, no addresses
)

// Kernel names the addresses of the running kernel, its modules and the BPF
// programs that were loaded when it was read.
type Kernel struct {
	table   *Table
	modules []string
	of      []uint16 // for each function of table its module, an index into modules
}

// LoadKernel reads kallsyms below a root ("/" for this host). The error wraps
// ErrHidden when all addresses are zero.
func LoadKernel(root string) (*Kernel, error) {
	path := filepath.Join(root, "proc/kallsyms")
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read kernel symbols: %w", err)
	}
	defer file.Close()
	kernel, err := parseKernel(io.LimitReader(file, maxKernelBytes))
	if errors.Is(err, ErrHidden) {
		restrict, _ := os.ReadFile(filepath.Join(root, "proc/sys/kernel/kptr_restrict"))
		return nil, fmt.Errorf("read %s: %w (kernel.kptr_restrict=%s): %s", path, err, firstWord(restrict),
			wayOut(firstWord(restrict)))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return kernel, nil
}

// wayOut says what shows the addresses at a value of kernel.kptr_restrict. At 0, too, they take
// CAP_SYSLOG unless kernel.perf_event_paranoid is 1 or lower; at 2 they are hidden from everybody
// (kallsyms_show_value in the kernel).
func wayOut(restrict string) string {
	switch restrict {
	case "0", "1":
		return "run as root, or with CAP_SYSLOG"
	}
	return "run as root, or with CAP_SYSLOG, after sysctl kernel.kptr_restrict=1"
}

func firstWord(text []byte) string {
	if fields := bytes.Fields(text); len(fields) > 0 {
		return string(fields[0][:min(len(fields[0]), 16)])
	}
	return "?"
}

// Lookup returns the name of the kernel function at an address and how far
// into it the address is. The kernel does not tell sizes: a function extends to
// the next symbol.
func (k *Kernel) Lookup(address uint64) (name string, offset uint64, ok bool) {
	return k.table.Lookup(address)
}

// Module returns the module of the function that starts at an address which
// Lookup found (address − offset): "" for the kernel itself, "bpf" for BPF programs.
func (k *Kernel) Module(start uint64) string {
	i, ok := k.table.index(start)
	if !ok {
		return ""
	}
	return k.modules[k.of[i]]
}

// Len returns the number of functions.
func (k *Kernel) Len() int { return k.table.Len() }

type kernelParser struct {
	builder  tableBuilder
	modules  []string
	known    map[string]uint16
	moduleOf map[uint64]uint16 // by start; only what is not in the kernel itself
	hidden   bool              // an address was zero
	shown    bool              // one was not
}

func parseKernel(source io.Reader) (*Kernel, error) {
	p := &kernelParser{modules: []string{""}, known: map[string]uint16{"": 0}, moduleOf: map[uint64]uint16{}}
	lines := bufio.NewScanner(source)
	lines.Buffer(make([]byte, 1<<16), 1<<16)
	for lines.Scan() {
		if err := p.line(lines.Bytes()); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !p.shown {
		if p.hidden {
			return nil, ErrHidden
		}
		return nil, ErrNoSymbols
	}
	table := p.builder.table()
	kernel := &Kernel{table: table, modules: p.modules, of: make([]uint16, table.Len())}
	for i, start := range table.starts {
		kernel.of[i] = p.moduleOf[start]
	}
	return kernel, nil
}

// line takes "ffffffff81000000 T name" or, tabs between, "… t name	[module]".
func (p *kernelParser) line(line []byte) error {
	digits, rest, found := bytes.Cut(line, []byte{' '})
	address, ok := parseHex(digits)
	if !found || !ok || len(rest) < 3 || rest[1] != ' ' {
		return fmt.Errorf("damaged line %q", line[:min(len(line), 80)])
	}
	kind, name := rest[0], rest[2:]
	name, module, _ := bytes.Cut(name, []byte{'\t'})
	if address == 0 {
		p.hidden = true // or a per-CPU symbol
		return nil
	}
	p.shown = true
	if address < kernelHalf {
		return nil
	}
	switch kind {
	case 'T', 'W':
		p.builder.add(symbolEntry{start: address, name: p.builder.keep(name), rank: rankGlobal})
	case 't', 'w':
		p.builder.add(symbolEntry{start: address, name: p.builder.keep(name), rank: rankLocal})
	default:
		p.builder.add(symbolEntry{start: address, rank: rankBoundary}) // data, which ends the function before it
		return nil
	}
	if module = bytes.Trim(module, "[]"); len(module) > 0 {
		p.moduleOf[address] = p.module(module)
	}
	return nil
}

func (p *kernelParser) module(name []byte) uint16 {
	number, ok := p.known[string(name)]
	if !ok && len(p.modules) < maxKernelModules {
		number = uint16(len(p.modules))
		p.modules = append(p.modules, string(name))
		p.known[string(name)] = number
	}
	return number
}

func parseHex(digits []byte) (value uint64, ok bool) {
	if len(digits) == 0 || len(digits) > 16 {
		return 0, false
	}
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		value = value<<4 | uint64(c)
	}
	return value, true
}
