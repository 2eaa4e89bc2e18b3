package format

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of an OTLP profile: a message of two bytes becomes an object of a hundred, and one inside
// the other costs the stack.
const (
	maxOTLP         = 32 << 20
	maxOTLPMessages = 2 << 20
	maxOTLPDepth    = 40
)

// otlpShape is what messages have which fields inside them; nil: one that is not looked into.
type otlpShape map[protowire.Number]otlpShape

// The messages of opentelemetry/proto/profiles/v1development, with the numbers of their fields that
// are messages.
func otlpShapes() otlpShape {
	value := otlpShape{}
	keyed := otlpShape{2: value}
	value[5], value[6] = otlpShape{1: value}, otlpShape{1: keyed}
	resource := otlpShape{1: keyed, 3: otlpShape{}}
	profile := otlpShape{1: otlpShape{}, 2: otlpShape{}, 5: otlpShape{}}
	scope := otlpShape{1: otlpShape{3: keyed}, 2: profile}
	dictionary := otlpShape{1: otlpShape{}, 2: otlpShape{3: otlpShape{}}, 3: otlpShape{}, 4: otlpShape{}, 5: otlpShape{},
		6: keyed, 7: otlpShape{}}
	return otlpShape{1: otlpShape{1: resource, 2: scope}, 2: dictionary}
}

// checkOTLP counts the messages of an input before the library makes objects of them.
func checkOTLP(text []byte) error {
	left := maxOTLPMessages
	return otlpShapes().check(text, &left, 0)
}

func (s otlpShape) check(text []byte, left *int, depth int) error {
	if depth > maxOTLPDepth {
		return errors.New("damaged profile: its values stand too deep in each other")
	}
	for len(text) > 0 {
		number, wire, length := protowire.ConsumeTag(text)
		if length < 0 || wire == protowire.StartGroupType || wire == protowire.EndGroupType {
			return errors.New("damaged profile: a field's head is not one")
		}
		body := text[length:]
		if length = protowire.ConsumeFieldValue(number, wire, body); length < 0 {
			return errors.New("the profile is cut off")
		}
		inner, known := s[number]
		if known && wire == protowire.BytesType {
			if *left--; *left < 0 {
				return fmt.Errorf("it has more than %d parts; export a shorter time", maxOTLPMessages)
			}
			message, _ := protowire.ConsumeBytes(body) // its length was looked at above
			if inner != nil && len(inner) > 0 {
				if err := inner.check(message, left, depth+1); err != nil {
					return err
				}
			}
		}
		text = body[length:]
	}
	return nil
}

// looksLikeOTLP tells profiles of OpenTelemetry by the fields that stand first, as bytes, or as
// JSON. framed: each request stands behind its length, as the collector's file exporter writes it.
func looksLikeOTLP(head []byte) (is, framed bool) {
	if looksLikeOTLPJSON(head) {
		return true, false
	}
	if len(head) > 4 && binary.BigEndian.Uint32(head) <= maxOTLP && otlpBytes(head[4:]) {
		return true, true
	}
	return otlpBytes(head), false
}

// otlpBytes follows the first message of each level: requests begin with resources or with the
// dictionary.
func otlpBytes(head []byte) bool {
	const enough = 3
	shape := otlpShapes()
	room := uint64(maxOTLP) // what the message above has left
	for level := 0; ; level++ {
		number, wire, length := protowire.ConsumeTag(head)
		inner, known := shape[number]
		switch {
		case level == 0 && length != 1, length < 0:
			return level >= enough
		case level >= enough:
			return true
		case level > 0 && !known: // a field without parts: what is above it was right
			return level >= 2 && wire != protowire.StartGroupType && wire != protowire.EndGroupType && number <= 12
		case wire != protowire.BytesType || !known:
			return false
		}
		size, varint := protowire.ConsumeVarint(head[length:])
		if varint < 0 || size+uint64(length+varint) > room || level == 0 && size < 8 {
			return false
		}
		room = size
		head = head[length+varint:]
		if size == 0 { // the first of a table is empty: the next one has to be of the same table or a later one
			next, nextWire, nextLength := protowire.ConsumeTag(head)
			return level >= 1 && nextLength > 0 && nextWire == protowire.BytesType && next >= number && next <= 7
		}
		shape = inner
	}
}
