package requests

import (
	"strings"
	"testing"
	"unicode"
)

func TestKindText(t *testing.T) {
	for _, c := range []struct {
		protocol uint32
		head     string
		want     string
	}{
		{http1, "GET / HTTP/1.1\r\n", "GET /"},
		{http1, "GET /user/17/cart?x=1 HTTP/1.1\r\n", "GET /user/#/cart"},
		{http1, "POST /v2/item-12-b HTTP/1.0\r\n", "POST /v#/item-#-b"},
		{http1, "GET /o/5f1c0a2b-77de-4a61-9c3b-0123456789ab/x HTTP/1.1", "GET /o/#/x"},
		{http1, "GET /deadbeef HTTP/1.1", "GET /deadbeef"}, // no digit: a word
		{http1, "GET /a\x01\xff HTTP/1.1", "GET /a??"},
		{redis, "*3\r\n$3\r\nset\r\n$1\r\n", "SET"},
		{redis, "*3\r\n", ""},
		{postgres, "Q\x00\x00\x00\x0dselect 1;\x00", "SELECT"},
		{postgres, "P\x00\x00\x00\x20s1\x00insert into t\x00", "INSERT"},
		{postgres, "B\x00\x00\x00\x20\x00", "(prepared)"},
		{postgres, "Q", ""},
		{mysql, "\x09\x00\x00\x00\x03select 1", "SELECT"},
		{mysql, "\x09\x00\x00\x00\x17....", "(prepared)"},
		{memcached, "get key\r\n", "GET"},
		{http2, "", "(path not seen)"},
		{http2, "/user/17/cart\x00\x00\x00\x01", "GET /user/#/cart"},
		{grpc, "/shop.Store/Take\x00\x02", "POST /shop.Store/Take"},
		{http2, "/a\x00\xff", "/a"},
		{tls, "\x16\x03\x01", "(handshake)"},
		{tls, "\x17\x03\x03\x00\x20", ""},
	} {
		if got := kindText(c.protocol, []byte(c.head)); got != c.want {
			t.Errorf("%d %q: %q, not %q", c.protocol, c.head, got, c.want)
		}
	}
}

// Whatever a client sends, its kind is short text without control characters.
func FuzzKindText(f *testing.F) {
	f.Add(uint32(http1), []byte("GET /user/17 HTTP/1.1\r\n"))
	f.Add(uint32(redis), []byte("*1\r\n$4\r\nPING\r\n"))
	f.Add(uint32(postgres), []byte("P\x00\x00\x00\x20s1\x00insert"))
	f.Add(uint32(http2), []byte("/user/17\x00\x01"))
	f.Add(uint32(mysql), []byte("\x01\x00\x00\x00\x03"))
	f.Fuzz(func(t *testing.T, protocol uint32, head []byte) {
		text := kindText(protocol, head)
		if len(text) > 4*len(head)+len("(path not seen)") || strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("%d %q: %q", protocol, head, text)
		}
	})
}
