package rpm

import (
	"encoding/binary"
	"fmt"
)

// The kinds of pages of a table in a file of SQLite (https://www.sqlite.org/fileformat.html).
const (
	interiorPage = 0x05
	leafPage     = 0x0d
)

// maxDepth bounds the levels of a tree: a table of 2⁴⁰ rows has fewer.
const maxDepth = 20

// table reads the rows of a table of SQLite.
type table struct {
	*database
	size   int // of a page
	usable int // of it, without what is reserved
}

// sqlite reads the column blob of the table Packages: what its log of changes (-wal) holds beside
// is not seen.
func (db *database) sqlite(begin []byte) error {
	if len(begin) < 100 {
		return fmt.Errorf("%w: no page of SQLite", errDamaged)
	}
	size := u16(binary.BigEndian, begin, 16)
	if size == 1 {
		size = 64 << 10
	}
	t := &table{db, size, size - int(begin[20])}
	if size < 512 || size&(size-1) != 0 || t.usable < 480 {
		return fmt.Errorf("%w: pages of %d bytes", errDamaged, size)
	}
	root := int64(0)
	_, err := t.rows(1, 0, func(row []byte) bool { // the table of tables
		columns := fields(row)
		if len(columns) >= 4 && string(columns[0]) == "table" && string(columns[1]) == "Packages" {
			for _, digit := range columns[3] {
				root = root<<8 | int64(digit)
			}
		}
		return root == 0
	})
	if err != nil {
		return err
	}
	if root <= 0 {
		return fmt.Errorf("%w: it has no table Packages", errDamaged)
	}
	_, err = t.rows(root, 0, func(row []byte) bool {
		columns := fields(row)
		return len(columns) < 2 || db.header(columns[len(columns)-1])
	})
	return err
}

// rows goes through the rows below a page; false where no more is wanted.
func (t *table) rows(number int64, depth int, each func([]byte) bool) (more bool, err error) {
	if depth > maxDepth || number < 1 {
		return false, fmt.Errorf("%w: page %d at depth %d", errDamaged, number, depth)
	}
	page, err := t.page(number-1, t.size)
	if err != nil {
		return false, err
	}
	head := 0
	if number == 1 {
		head = 100
	}
	kind, cells := page[head], u16(binary.BigEndian, page, head+3)
	begin := head + 8
	if kind == interiorPage {
		begin = head + 12
	} else if kind != leafPage {
		return false, fmt.Errorf("%w: page %d is of kind %d", errDamaged, number, kind)
	}
	for i := range cells {
		cell := u16(binary.BigEndian, page, begin+2*i)
		if cell < begin {
			return false, fmt.Errorf("%w: a row outside of page %d", errDamaged, number)
		}
		if kind == interiorPage {
			more, err = t.rows(int64(u32(binary.BigEndian, page, cell)), depth+1, each)
		} else {
			more, err = t.row(page, cell, each)
		}
		if err != nil || !more {
			return more, err
		}
	}
	if kind == interiorPage {
		return t.rows(int64(u32(binary.BigEndian, page, head+8)), depth+1, each)
	}
	return true, nil
}

// row gives the record of one cell of a leaf, with what of it lies on further pages.
func (t *table) row(page []byte, cell int, each func([]byte) bool) (more bool, err error) {
	length, cell := varint(page, cell)
	_, cell = varint(page, cell) // the number of the row
	if length < 0 || length > maxHeader {
		return false, fmt.Errorf("%w: a row of %d bytes", errDamaged, length)
	}
	local := int(length)
	if most := t.usable - 35; local > most {
		least := (t.usable-12)*32/255 - 23
		local = least + (int(length)-least)%(t.usable-4)
		if local > most {
			local = least
		}
	}
	if cell+local > len(page) {
		return false, fmt.Errorf("%w: a row over the end of its page", errDamaged)
	}
	record := append([]byte{}, page[cell:cell+local]...)
	next := int64(u32(binary.BigEndian, page, cell+local))
	for int64(len(record)) < length {
		if next < 1 {
			return false, fmt.Errorf("%w: a row that ends before its end", errDamaged)
		}
		overflow, err := t.page(next-1, t.size)
		if err != nil {
			return false, err
		}
		next = int64(u32(binary.BigEndian, overflow, 0))
		record = append(record, overflow[4:4+min(t.usable-4, int(length)-len(record))]...)
	}
	return each(record), nil
}

// fields are the columns of a record, each as its bytes.
func fields(record []byte) (columns [][]byte) {
	head, at := varint(record, 0)
	if head < 0 || head > int64(len(record)) {
		return nil
	}
	body := int(head)
	for at < int(head) {
		kind, after := varint(record, at)
		if after <= at {
			return columns
		}
		at = after
		length := int64(0)
		switch {
		case kind >= 12:
			length = (kind - 12) / 2
		case kind == 5:
			length = 6
		case kind == 6, kind == 7:
			length = 8
		case kind >= 1 && kind <= 4:
			length = kind
		}
		if length < 0 || length > int64(len(record)-body) {
			return columns
		}
		columns = append(columns, record[body:body+int(length)])
		body += int(length)
	}
	return columns
}

// varint reads a number of up to nine bytes, and gives where the next begins.
func varint(data []byte, at int) (value int64, next int) {
	for i := range 9 {
		if at < 0 || at+i >= len(data) {
			return -1, len(data)
		}
		one := data[at+i]
		if i == 8 {
			return value<<8 | int64(one), at + 9
		}
		value = value<<7 | int64(one&0x7f)
		if one < 0x80 {
			return value, at + i + 1
		}
	}
	return value, at + 9
}
