package trial

import (
	"encoding/binary"
	"iter"

	"golang.org/x/sys/unix"
)

// genericHeaderBytes is the size of struct genlmsghdr.
const genericHeaderBytes = 4

// attribute encodes one netlink attribute.
func attribute(kind uint16, value []byte) []byte {
	encoded := make([]byte, unix.SizeofNlAttr, unix.SizeofNlAttr+len(value)+3)
	binary.NativeEndian.PutUint16(encoded[0:], uint16(unix.SizeofNlAttr+len(value)))
	binary.NativeEndian.PutUint16(encoded[2:], kind)
	encoded = append(encoded, value...)
	for len(encoded)%unix.NLA_ALIGNTO != 0 {
		encoded = append(encoded, 0)
	}
	return encoded
}

// attributes walks netlink attributes; it ends at the first one that does not fit.
func attributes(text []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(text) >= unix.SizeofNlAttr {
			length := int(binary.NativeEndian.Uint16(text))
			if length < unix.SizeofNlAttr || length > len(text) {
				return
			}
			kind := binary.NativeEndian.Uint16(text[2:]) &^ (unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER)
			if !yield(kind, text[unix.SizeofNlAttr:length]) {
				return
			}
			text = text[min(len(text), align(length, unix.NLA_ALIGNTO)):]
		}
	}
}

// messages walks the netlink messages of one datagram; it ends at the first one that does not fit.
func messages(text []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(text) >= unix.SizeofNlMsghdr {
			length := int(binary.NativeEndian.Uint32(text))
			if length < unix.SizeofNlMsghdr || length > len(text) {
				return
			}
			if !yield(binary.NativeEndian.Uint16(text[4:]), text[unix.SizeofNlMsghdr:length]) {
				return
			}
			text = text[min(len(text), align(length, unix.NLMSG_ALIGNTO)):]
		}
	}
}

func align(length, to int) int { return (length + to - 1) &^ (to - 1) }
