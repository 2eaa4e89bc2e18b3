// Package rpm reads the database of packages of RPM: who owns which file, in which version. It
// knows the three forms that rpm has kept it in: SQLite (Fedora 33, RHEL 9 and later), ndb (SUSE)
// and hash tables of Berkeley DB (RHEL 5 to 8, Amazon Linux 2).
//
// A database is whatever the owner of a container made of it. Every offset, count and length is
// held against the file and against a limit, and each page is followed once; what is damaged ends
// the reading with an error, and what was read before stays.
//
//	err := rpm.Read(file, size, func(found *rpm.Package) bool {
//		for name := range found.Files() { … }
//		return true
//	})
package rpm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Folders are where databases lie: of later systems, of earlier ones, and of those that keep /var
// out of the image.
var Folders = []string{"/usr/lib/sysimage/rpm", "/var/lib/rpm", "/usr/share/rpm"}

// Names are those of a database in its folder, the latest form first.
var Names = []string{"rpmdb.sqlite", "Packages.db", "Packages"}

// The limits of a database. Chosen: the largest systems have 10,000 packages and headers of 5 MB.
const (
	maxHeader   = 16 << 20
	maxPackages = 64 << 10
	maxPages    = 1 << 20 // that are followed
)

var errDamaged = errors.New("the database of RPM packages is damaged")

// database is one that is being read.
type database struct {
	file  io.ReaderAt
	size  int64
	pages int // followed so far
	found int
	each  func(*Package) bool
}

// Read gives each package of a database until the receiver wants no more.
func Read(file io.ReaderAt, size int64, each func(*Package) bool) error {
	db := &database{file: file, size: size, each: each}
	begin, err := db.at(0, int(min(512, size)))
	if err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(begin, []byte("SQLite format 3\x00")):
		return db.sqlite(begin)
	case bytes.HasPrefix(begin, []byte("RpmP")):
		return db.slots(begin)
	case len(begin) >= 72:
		return db.hashes(begin)
	}
	return fmt.Errorf("%w: it is none of the forms that are known", errDamaged)
}

// at reads a piece of the file that lies in it whole.
func (db *database) at(offset int64, length int) ([]byte, error) {
	if offset < 0 || length < 0 || length > maxHeader || offset > db.size-int64(length) {
		return nil, fmt.Errorf("%w: %d bytes at %d of %d", errDamaged, length, offset, db.size)
	}
	piece := make([]byte, length)
	if length == 0 {
		return piece, nil
	}
	if _, err := db.file.ReadAt(piece, offset); err != nil {
		return nil, fmt.Errorf("read the database of RPM packages: %w", err)
	}
	return piece, nil
}

// page reads one page of a size, and counts it: pages that lead to each other end there.
func (db *database) page(number int64, size int) ([]byte, error) {
	if db.pages++; db.pages > maxPages {
		return nil, fmt.Errorf("%w: more than %d pages", errDamaged, maxPages)
	}
	return db.at(number*int64(size), size)
}

// header gives one package; false where no more is wanted.
func (db *database) header(blob []byte) bool {
	if db.found++; db.found > maxPackages {
		return false
	}
	found := parse(blob)
	return found == nil || db.each(found)
}

func u32(order binary.ByteOrder, data []byte, at int) uint32 {
	if at < 0 || at+4 > len(data) {
		return 0
	}
	return order.Uint32(data[at:])
}

func u16(order binary.ByteOrder, data []byte, at int) int {
	if at < 0 || at+2 > len(data) {
		return 0
	}
	return int(order.Uint16(data[at:]))
}
