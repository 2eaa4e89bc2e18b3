package rpm

import (
	"encoding/binary"
	"fmt"
)

// A file of ndb is pages of slots, the first two of which are its own head, then the headers in
// blocks (rpm's lib/backend/ndb/rpmpkg.c).
const (
	slotPage   = 4096
	slotSize   = 16
	blockSize  = 16
	maxSlots   = 2048 // pages
	headerHead = 16
)

func (db *database) slots(begin []byte) error {
	order := binary.LittleEndian
	pages := u32(order, begin, 12)
	if len(begin) < 32 || pages == 0 || pages > maxSlots || u32(order, begin, 4) != 0 {
		return fmt.Errorf("%w: %d pages of slots", errDamaged, pages)
	}
	slots, err := db.at(0, int(pages)*slotPage)
	if err != nil {
		return err
	}
	for at := 2 * slotSize; at < len(slots); at += slotSize {
		if string(slots[at:at+4]) != "Slot" {
			return fmt.Errorf("%w: no slot at %d", errDamaged, at)
		}
		number := u32(order, slots, at+4)
		if number == 0 {
			continue // free
		}
		offset := int64(u32(order, slots, at+8)) * blockSize
		head, err := db.at(offset, headerHead)
		if err != nil {
			return err
		}
		if string(head[:4]) != "BlbS" || u32(order, head, 4) != number {
			return fmt.Errorf("%w: no package at %d", errDamaged, offset)
		}
		blob, err := db.at(offset+headerHead, int(u32(order, head, 12)))
		if err != nil {
			return err
		}
		if !db.header(blob) {
			return nil
		}
	}
	return nil
}
