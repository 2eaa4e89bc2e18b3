// Package mapped reads what a process has mapped, and opens those files: the process may be gone
// when its addresses are named.
//
//	for _, one := range mapped.Read(42) {
//		if one.Holds(address) {
//			file, err := one.Open(42)
//		}
//	}
//
// It refuses what is no plain file, and reads 8 MB of a list at most: mappings are whatever a
// process made of them.
package mapped

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"culprit/internal/probe/unwind"
)

// MaxBytes bounds what is read of one list of mappings.
const MaxBytes = 8 << 20

// ErrNoFile says that a mapping is of no plain file.
var ErrNoFile = errors.New("it is no plain file")

// Mapping is a line of /proc/PID/maps.
type Mapping struct {
	Start, End, Offset uint64
	Code               bool
	Number             string // of the device and file
	Path               string // "" of memory without a file
}

// Read reads as much of a process's mappings as the limit allows; none of one that is gone.
func Read(pid int32) (list []Mapping) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(io.LimitReader(file, MaxBytes)); lines.Scan(); {
		if one, ok := Parse(lines.Text()); ok {
			list = append(list, one)
		}
	}
	return list
}

// Parse reads one line; false where it is none, or of a device.
func Parse(line string) (Mapping, bool) {
	raw, wanted, ok := unwind.ParseMapping(line)
	return Mapping{Start: raw.Vaddr, End: raw.Vaddr + raw.Length, Offset: raw.FileOffset, Path: raw.Path,
		Code: raw.Flags&elf.PF_X != 0, Number: number(raw.Device, raw.Inode)}, wanted && ok
}

// Holds reports whether an address is in the mapping.
func (m *Mapping) Holds(address uint64) bool { return address >= m.Start && address < m.End }

// Open opens what is mapped, also where its name leads elsewhere by now.
func (m *Mapping) Open(pid int32) (*os.File, error) {
	file, err := os.OpenFile(m.Place(pid), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close() // nothing was written to it
		return nil, fmt.Errorf("open %s: %w", m.Path, errors.Join(ErrNoFile, err))
	}
	return file, nil
}

// Place is the name by which the process's mapping can be opened while it lives.
func (m *Mapping) Place(pid int32) string {
	return fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Start, m.End)
}

func number(device, inode uint64) string { return fmt.Sprint(device, " ", inode) }

// Number is that of a file by what stat(2) tells of it.
func Number(device, inode uint64) string {
	return number(uint64(unix.Major(device))<<8+uint64(unix.Minor(device)), inode)
}
