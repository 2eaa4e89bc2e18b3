package requests

import (
	"bytes"
	"strings"

	"culprit/recording"
)

// The protocols, as in head.h.
const (
	unknown = iota
	http1
	http2
	redis
	postgres
	mysql
	memcached
	tls
	other
	grpc
)

var protocolNames = map[uint32]string{http1: "http", http2: "http/2", redis: "redis", postgres: "postgresql",
	mysql: "mysql", memcached: "memcached", tls: "tls", grpc: "grpc"}

// The methods of HTTP/2, as in fields.h, which writes their number behind the path.
var methodNames = [...]string{"", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE"}

// kindText names the kind of a request by its first bytes, which are whatever the client sent: ""
// when they tell none. The kernel tells kinds apart by a hash of the same text.
func kindText(protocol uint32, head []byte) string {
	switch protocol {
	case http1:
		return printable(foldPath(head))
	case http2, grpc:
		return streamKind(head)
	case redis:
		_, rest, _ := strings.Cut(string(head), "\n")
		_, rest, _ = strings.Cut(rest, "\n")
		return word(rest)
	case memcached:
		return word(string(head))
	case postgres:
		return postgresKind(head)
	case mysql:
		return mysqlKind(head)
	case tls:
		if len(head) > 0 && head[0] >= 0x14 && head[0] <= 0x16 {
			return "(handshake)"
		}
	}
	return ""
}

// streamKind is method and path of a stream of HTTP/2.
func streamKind(head []byte) string {
	if len(head) == 0 {
		return recording.PathNotSeen
	}
	path, _, _ := bytes.Cut(head[:len(head)-1], []byte{0})
	text := printable(foldPath(path))
	if method := int(head[len(head)-1]); method < len(methodNames) && methodNames[method] != "" {
		text = methodNames[method] + " " + text
	}
	return text
}

// printable replaces what no path has: a path is ASCII.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

func postgresKind(head []byte) string {
	if len(head) < 6 {
		return ""
	}
	switch head[0] {
	case 'Q':
		return word(string(head[5:]))
	case 'P':
		_, statement, _ := strings.Cut(string(head[5:]), "\x00")
		return word(statement)
	case 'B', 'E':
		return "(prepared)"
	}
	return "(" + word(string(head[:1])) + ")"
}

func mysqlKind(head []byte) string {
	if len(head) < 5 {
		return ""
	}
	switch head[4] {
	case 3:
		return word(string(head[5:]))
	case 0x16:
		return "(prepare)"
	}
	return "(prepared)"
}

// longestWord bounds a word, as in head.h.
const longestWord = 24

// word is the first word of a text in capitals: letters, _ and dots.
func word(text string) string {
	var made strings.Builder
	for i := 0; i < len(text) && i < longestWord; i++ {
		c := text[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		if (c < 'A' || c > 'Z') && c != '_' && c != '.' {
			break
		}
		made.WriteByte(c)
	}
	return made.String()
}

// foldPath gives method and path without the query: each number is #, and so is a segment that is
// long, hexadecimal and has a digit.
func foldPath(head []byte) string {
	var made []byte
	blanks, from := 0, 0 // from: where the segment begins in made
	segment := idSegment{}
	number := false
	for _, c := range head {
		if c == ' ' {
			blanks++
		}
		if c == '?' || c == '#' || c == '\r' || c == '\n' || blanks == 2 {
			break
		}
		if c == '/' {
			made = append(segment.fold(made, from), c)
			from, segment, number = len(made), idSegment{}, false
			continue
		}
		segment.see(c)
		if isDigit(c) {
			if !number {
				made = append(made, '#')
			}
			number = true
			continue
		}
		number = false
		made = append(made, c)
	}
	return string(segment.fold(made, from))
}

// idSegment is what tells an id from a name.
type idSegment struct {
	digits, length int
	odd            bool
}

// shortestID is the shortest segment that may be an id and no number, as in head.h.
const shortestID = 8

func (s *idSegment) see(c byte) {
	s.length++
	switch {
	case isDigit(c):
		s.digits++
	case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == '-':
	default:
		s.odd = true
	}
}

func (s *idSegment) fold(made []byte, from int) []byte {
	if s.digits > 0 && s.length >= shortestID && !s.odd {
		return append(made[:from], '#')
	}
	return made
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
