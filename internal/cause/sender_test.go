package cause

import (
	"slices"
	"testing"
)

// Who keeps a segment back is told by its writes or, where those are too few to be sampled, by its
// wait for the answer.
func TestOtherEndOfADelay(t *testing.T) {
	const inRead = "libc.so.6!read;k:__x64_sys_read;tcp_recvmsg;sk_wait_data"
	delayed := wait{count: 10, ms: 41, call: "recvfrom", waker: "interrupt", stack: inReceive, ended: delack}
	asks := wait{tid: 101, count: 10, ms: 41, call: "read", waker: "thread", wakerTi: rootPid, stack: "clone3;request;" +
		inRead}
	seldom := asks
	seldom.ms = 4
	sends := held(delayed, asks)
	sends.cpu = merged(sends.cpu, map[string]float64{
		"_start;main;serve;put;libc.so.6!write;k:__x64_sys_write;tcp_sendmsg": 20})
	for _, one := range []struct {
		name string
		b    plan
		want string
	}{
		{"it waits for the answer", held(delayed, asks), "the other end waits in request"},
		{"it waits for other things", held(delayed, seldom), ""},
		{"its writes are seen", sends, "main;serve;put"},
		{"it runs elsewhere", held(delayed), ""},
	} {
		suspects := judged(t, "wall", held(), one.b, Costs{})
		if len(suspects) == 0 || suspects[0].Cause != "net.delayed" {
			t.Errorf("%s: suspects %s", one.name, described(suspects))
			continue
		}
		where := suspects[0].Where
		if one.want == "" && len(where) > 1 || one.want != "" && !slices.Contains(where, one.want) {
			t.Errorf("%s: told at %q, want %q", one.name, where, one.want)
		}
	}
}
