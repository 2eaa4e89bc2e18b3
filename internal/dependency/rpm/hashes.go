package rpm

import (
	"encoding/binary"
	"fmt"
)

// The pages of a hash table of Berkeley DB (its src/dbinc/db_page.h), and what their entries are.
const (
	hashMagic     = 0x061561
	pageHead      = 26
	unsortedHash  = 2 // before Berkeley DB 4.6
	overflowPage  = 7
	sortedHash    = 13
	offPageItem   = 3 // an item that lies on pages of its own
	offPageLength = 12
)

func (db *database) hashes(begin []byte) error {
	var order binary.ByteOrder = binary.LittleEndian
	if u32(order, begin, 12) != hashMagic {
		order = binary.BigEndian
	}
	size, last := int(u32(order, begin, 20)), int64(u32(order, begin, 32))
	if u32(order, begin, 12) != hashMagic || begin[24] != 0 || size < 512 || size > 64<<10 || size&(size-1) != 0 {
		return fmt.Errorf("%w: it is none of the forms that are known", errDamaged)
	}
	for number := int64(1); number <= last; number++ {
		page, err := db.page(number, size)
		if err != nil {
			return err
		}
		if kind := page[25]; kind != unsortedHash && kind != sortedHash {
			continue
		}
		for i := 1; i < u16(order, page, 20) && pageHead+2*i < size; i += 2 { // keys and values in turn
			at := u16(order, page, pageHead+2*i)
			if at < pageHead || at+offPageLength > size || page[at] != offPageItem {
				continue // an item of a few bytes is no header
			}
			blob, err := db.overflow(order, int64(u32(order, page, at+4)), int(u32(order, page, at+8)), size)
			if err != nil {
				return err
			}
			if !db.header(blob) {
				return nil
			}
		}
	}
	return nil
}

// overflow reads an item that lies on pages of its own.
func (db *database) overflow(order binary.ByteOrder, number int64, length, size int) ([]byte, error) {
	if length < 0 || length > maxHeader || int64(length) > db.size {
		return nil, fmt.Errorf("%w: a header of %d bytes", errDamaged, length)
	}
	blob := make([]byte, 0, length)
	for number != 0 && len(blob) < length {
		page, err := db.page(number, size)
		if err != nil {
			return nil, err
		}
		if page[25] != overflowPage {
			return nil, fmt.Errorf("%w: page %d is none of an item", errDamaged, number)
		}
		blob = append(blob, page[pageHead:pageHead+min(size-pageHead, length-len(blob))]...)
		number = int64(u32(order, page, 16))
	}
	return blob, nil
}
