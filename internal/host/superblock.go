package host

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// The superblock of ext2, 3 and 4 (Documentation/filesystems/ext4/super.rst).
const (
	superblockAt    = 1024
	superblockSize  = 1024
	superblockMagic = 0xef53
)

// feature is a bit of one of the superblock's three sets.
type feature struct {
	set  int // offset of the set
	bit  uint32
	name string
}

// features are those that change how fast the file system is, by mke2fs(8)'s names.
var features = []feature{
	{0x5c, 0x4, "has_journal"}, {0x5c, 0x20, "dir_index"}, {0x5c, 0x400, "fast_commit"},
	{0x60, 0x8, "journal_dev"}, {0x60, 0x40, "extent"}, {0x60, 0x80, "64bit"}, {0x60, 0x200, "flex_bg"},
	{0x60, 0x8000, "inline_data"}, {0x60, 0x10000, "encrypt"}, {0x60, 0x20000, "casefold"},
	{0x64, 0x10, "uninit_bg"}, {0x64, 0x100, "quota"}, {0x64, 0x200, "bigalloc"}, {0x64, 0x400, "metadata_csum"},
	{0x64, 0x2000, "project"}, {0x64, 0x8000, "verity"},
}

// superblock keeps what an ext file system was made with, read from its device.
func (collect *collector) superblock(name string, mount mountEntry) {
	file, err := collect.files.open(mount.origin, true)
	if err != nil {
		return // /dev is not there or closed: nothing is known
	}
	defer file.Close()
	block := make([]byte, superblockSize)
	if _, err := file.ReadAt(block, superblockAt); err != nil {
		return
	}
	number := func(at int) uint32 { return binary.LittleEndian.Uint32(block[at:]) }
	if binary.LittleEndian.Uint16(block[0x38:]) != superblockMagic || number(0x18) > 6 {
		return
	}
	var names []string
	for _, known := range features {
		if number(known.set)&known.bit != 0 {
			names = append(names, known.name)
		}
	}
	source := "superblock of " + mount.origin
	collect.add(name+".features", strings.Join(names, " "), source)
	collect.add(name+".block_bytes", strconv.Itoa(1024<<number(0x18)), source)
	collect.add(name+".inode_bytes", strconv.Itoa(int(binary.LittleEndian.Uint16(block[0x58:]))), source)
	// The journal's inode is kept here too; its last word but one is the file's size.
	if block[0xfd] == 1 && number(0x5c)&0x4 != 0 {
		collect.add(name+".journal_bytes", strconv.FormatUint(uint64(number(0x10c+15*4))<<32|uint64(number(0x10c+16*4)), 10),
			source)
	}
}
