package oncpu

import (
	"fmt"
	"strings"
	"testing"

	"culprit/recording"
)

// One line of what two processes have mapped is the same in both, wherever it lies. What only one
// has mapped, what each has of its own and what is of a device are of the process.
func TestCommon(t *testing.T) {
	maps := map[int32]string{
		7: `1000-2000 rw-p 00001000 fd:01 77 /opt/a b
10000-14000 rw-s 00000000 00:01 9 /memfd:board (deleted)
20000-24000 rw-s 00000000 00:05 5 /dev/gpu
30000-34000 rw-s 00000000 fd:01 99 /var/alone
not a mapping
2-1 rw-s 00000000 fd:01 98 /x
50000-54000 rw-s 00000000 00:00 0
`,
		8: `1000-2000 rw-p 00001000 fd:01 77 /opt/a b
70000-72000 r--s 00001000 00:01 9 /memfd:board (deleted)
80000-84000 rw-s 00000000 00:05 5 /dev/gpu
50000-54000 rw-s 00000000 00:00 0
`}
	plain := func(_ int32, start, _ uint64) bool { return start != 0x20000 && start != 0x80000 }
	c := newCommon(nil, nil)
	if c.learn(7, strings.NewReader(maps[7]), plain) {
		t.Error("one process shares memory")
	}
	if own := c.lineOf(7, 0x11048); own != (lineOf{pid: 7, line: 0x11040}) {
		t.Errorf("before the other is known: %+v", own)
	}
	if !c.learn(8, strings.NewReader(maps[8]), plain) {
		t.Error("two processes that map one file share nothing")
	}
	if c.learn(8, strings.NewReader(maps[8]), plain) {
		t.Error("the same again is more")
	}
	if one, other := c.lineOf(7, 0x11048), c.lineOf(8, 0x70041); one != other || one.pid != 0 || one.line != 0x1040 {
		t.Errorf("%+v and %+v", one, other)
	}
	for _, at := range []struct {
		pid     int32
		address uint64
	}{{7, 0x1048}, {7, 0x20000}, {8, 0x80000}, {7, 0x30000}, {7, 0x50000}, {8, 0x6ffff}, {8, 0x72000}, {9, 0x10000},
		{7, 0}} {
		if got := c.lineOf(at.pid, at.address); got != (lineOf{pid: at.pid, line: at.address &^ 63}) {
			t.Errorf("%d %#x: %+v", at.pid, at.address, got)
		}
	}
	row := recording.Line{Pid: 8, Line: 0x70040}
	if c.tell(&row); row.Memory != "00:01 9 /memfd:board" || row.MemoryOffset != 0x1040 {
		t.Errorf("%+v", row)
	}
}

// Lists of mappings are whatever a process made of them: what is kept is bounded.
func TestCommonOfMuch(t *testing.T) {
	var list strings.Builder
	for i := range maxRanges + 10 {
		start := 0x1000 * (i + 1)
		fmt.Fprintf(&list, "%x-%x rw-s 00000000 00:01 %d /%s\n", start, start+0x1000, 9+i%3, strings.Repeat("x", 2*maxPath))
	}
	c := newCommon(nil, nil)
	for pid := range int32(3) {
		c.learn(pid, strings.NewReader(list.String()), func(int32, uint64, uint64) bool { return true })
	}
	if c.count > maxRanges || len(c.objects) > maxObjects {
		t.Errorf("%d ranges of %d files", c.count, len(c.objects))
	}
	row := recording.Line{Pid: 0, Line: 0x1000}
	if c.tell(&row); len(row.Memory) > maxPath || row.Memory == "" {
		t.Errorf("%q", row.Memory)
	}
}

// Lines that turn out to be one are joined, with what debug registers saw of them.
func TestJoinLines(t *testing.T) {
	l := newLooker(nil, newCommon(nil, nil), true)
	for tid := range int32(2) {
		l.seen = append(l.seen, seenOperand{pid: tid + 7, tid: tid + 7,
			access: access{address: 0x10040 + uint64(tid)*0x50000, size: 8, write: true}})
		l.add(&l.seen[tid])
	}
	l.lines[lineOf{pid: 7, line: 0x10040}].tries = 2
	if len(l.lines) != 2 || len(l.hottest(1)) != 0 {
		t.Fatalf("%+v", l.lines)
	}
	plain := func(int32, uint64, uint64) bool { return true }
	l.common.learn(7, strings.NewReader("10000-14000 rw-s 00000000 00:01 9 /memfd:board\n"), plain)
	l.common.learn(8, strings.NewReader("60000-64000 rw-s 00000000 00:01 9 /memfd:board\n"), plain)
	l.joinLines()
	hot := l.hottest(1)
	if len(hot) != 1 || l.lines[hot[0]].tries != 2 || len(l.lines[hot[0]].processes()) != 2 || hot[0].line != 0x40 {
		t.Errorf("%+v", l.lines)
	}
}
