package network

import "testing"

// The other end is written as people write it, with a port where that says something.
func TestPeer(t *testing.T) {
	six := [16]byte{0x20, 0x01, 0x0d, 0xb8, 15: 1}
	mapped := [16]byte{10: 0xff, 11: 0xff, 12: 10, 13: 0, 14: 0, 15: 7}
	for want, key := range map[string]networkTotalKey{
		"127.0.0.1:6379":    {Family: familyIPv4, Port: 6379, Address: [16]byte{127, 0, 0, 1}},
		"10.1.2.3":          {Family: familyIPv4, Address: [16]byte{10, 1, 2, 3}},
		"[2001:db8::1]:443": {Family: 10, Port: 443, Address: six},
		"2001:db8::1":       {Family: 10, Address: six},
		"10.0.0.7:80":       {Family: 10, Port: 80, Address: mapped},
	} {
		if got := peer(&key); got != want {
			t.Errorf("%+v is %q, want %q", key, got, want)
		}
	}
}
