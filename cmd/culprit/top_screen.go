package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"culprit/internal/cause"
	"culprit/internal/report"
	"culprit/internal/top"
)

// screen is a terminal in raw mode, with its other screen shown.
type screen struct {
	in, out *os.File
	before  *term.State
	keys    chan string
}

// openScreen takes the terminal over; nil where input or output is none.
func openScreen(w world) *screen {
	in, isIn := w.stdin.(*os.File)
	out, isOut := w.stdout.(*os.File)
	if !isIn || !isOut || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil // lines go everywhere
	}
	s := &screen{in: in, out: out, before: before, keys: make(chan string)}
	fmt.Fprint(out, "\x1b[?1049h\x1b[?25l")
	go s.listen()
	return s
}

// close gives the terminal back as it was.
func (s *screen) close() {
	fmt.Fprint(s.out, "\x1b[?25h\x1b[?1049l")
	_ = term.Restore(int(s.in.Fd()), s.before) // nothing is left to do where it fails
}

// listen reads keys; an escape sequence comes in one piece.
func (s *screen) listen() {
	buffer := make([]byte, 64)
	for {
		count, err := s.in.Read(buffer)
		if err != nil {
			close(s.keys)
			return
		}
		text := string(buffer[:count])
		if count > 1 && text[0] != '\x1b' { // typed faster than read
			for _, key := range text {
				s.keys <- string(key)
			}
			continue
		}
		s.keys <- text
	}
}

// size of the terminal; a usual one where it does not say.
func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// show draws text from the top left corner.
func (s *screen) show(text []byte) {
	_, height := s.size()
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines) > height { // the last one would scroll
		lines = lines[:height-1]
	}
	var drawn bytes.Buffer
	drawn.WriteString("\x1b[H")
	drawn.Write(report.Lines(bytes.Join(lines, nil)))
	drawn.WriteString("\x1b[J")
	_, _ = s.out.Write(drawn.Bytes()) // a terminal that went away ends the input, too
}

// board is what the person at the terminal has chosen.
type board struct {
	options  topOptions
	screen   *screen
	looker   *looker
	now      *look
	order    string
	shown    string
	selected top.Key // "" for none: the first row
	at       int
	paused   bool
	detail   []byte // of a row that is explained; nil: the table
	notice   string // what is to be known until the next look
	quit     bool
}

// watchScreen draws looks until the person quits.
func watchScreen(ctx context.Context, l *looker, s *screen, o topOptions) error {
	b := &board{options: o, screen: s, looker: l, order: o.sort, shown: top.All}
	l.say = func(text string) { b.tell(text) }
	b.tell(fmt.Sprintf("looking at %s for %v …", l.target.Name(), l.interval))
	for {
		path, over, err := b.window(ctx)
		if err != nil {
			return untilGone(err, b.view())
		}
		if path == "" { // paused, or at an end
			if over || b.quit {
				return nil
			}
			continue
		}
		found, err := l.read(path, b.view())
		if err != nil {
			return err
		}
		if !b.paused {
			b.now = found
			b.draw()
		}
		if over || b.quit {
			return nil
		}
	}
}

func (b *board) view() *top.View {
	if b.now == nil {
		return nil
	}
	return b.now.view
}

// window records one, answering keys meanwhile. While it is paused nothing is recorded, also of a
// service that comes back meanwhile.
func (b *board) window(ctx context.Context) (path string, over bool, err error) {
	for b.paused {
		if b.looker.wait(ctx, nil, b.keys(ctx)) || b.quit {
			return "", true, nil
		}
	}
	over, err = b.looker.begin(ctx, func(pause time.Duration) bool {
		return b.looker.waitFor(ctx, pause, b.keys(ctx)) || b.quit || b.paused
	})
	if over || err != nil {
		return "", !b.paused, err
	}
	over = b.looker.waitFor(ctx, b.looker.interval, b.keys(ctx))
	b.notice = ""
	path, err = b.looker.end(!over && !b.paused && !b.quit)
	return path, over, err
}

// keys ends the waiting with a key that quits, or begins or ends the pause.
func (b *board) keys(ctx context.Context) keys {
	return keys{b.screen.keys, func(key string) bool {
		before := b.paused
		b.press(ctx, key)
		return b.quit || b.paused != before
	}}
}

// press does what a key says.
func (b *board) press(ctx context.Context, key string) {
	rows := b.rows()
	switch key {
	case "q", "\x03", "\x04":
		b.quit = true
		return
	case " ":
		b.paused = !b.paused
		if !b.paused {
			b.detail = nil
		}
	case "s":
		b.order = top.Next(top.Orders, b.order)
	case "c":
		b.shown = top.Next(top.Shows, b.shown)
	case "k", "\x1b[A":
		b.choose(rows, b.at-1)
	case "j", "\x1b[B":
		b.choose(rows, b.at+1)
	case "\r", "\n", "e":
		b.explain(ctx, rows)
	case "\x1b", "\x7f":
		b.detail = nil
	}
	b.draw()
}

// choose selects a row by its place.
func (b *board) choose(rows []top.Row, at int) {
	if len(rows) > 0 {
		b.at = min(max(at, 0), len(rows)-1)
		b.selected = rows[b.at].Key()
	}
}

func (b *board) rows() []top.Row {
	if b.now == nil {
		return nil
	}
	return b.now.view.Sorted(b.order, b.shown)
}

// tell shows what is to be known until the next look, below the table where there is one.
func (b *board) tell(text string) {
	b.notice = text
	b.draw()
}

// draw shows the table, or the row that is explained. The selection stays with its row.
func (b *board) draw() {
	if b.now == nil {
		b.screen.show([]byte(b.notice + "\n"))
		return
	}
	if b.detail != nil {
		b.screen.show(b.detail)
		return
	}
	for i, row := range b.rows() {
		if row.Key() == b.selected {
			b.at = i
		}
	}
	width, height := b.screen.size()
	const around = 12 // lines beside the table
	var text bytes.Buffer
	_ = report.Top(&text, b.now.view, report.TopOptions{TextOptions: b.text(width), Rows: max(height-around, 3),
		Order: b.order, Show: b.shown, Selected: b.at, Paused: b.paused, Own: b.now.own, Keys: true}) // a buffer takes all
	fmt.Fprintf(&text, "sorted by %s, shown: %s\n", b.order, b.shown)
	if b.notice != "" {
		fmt.Fprintln(&text, b.notice)
	}
	b.screen.show(text.Bytes())
}

func (b *board) text(width int) report.TextOptions {
	return report.TextOptions{Width: width, Colour: os.Getenv("NO_COLOR") == ""}
}

// explain stops at the selected row and tells what leads to it, and the causes that match the
// window.
func (b *board) explain(ctx context.Context, rows []top.Row) {
	if b.now == nil || b.at >= len(rows) || b.detail != nil {
		b.detail = nil
		return
	}
	var suspects []cause.Suspect
	if judged, err := judgeRecording(ctx, b.now.rec, "auto"); err == nil {
		suspects = judged.Suspects
	}
	width, _ := b.screen.size()
	var text bytes.Buffer
	_ = report.TopRow(&text, &rows[b.at], suspects, b.text(width)) // a buffer takes all
	fmt.Fprintln(&text, "\nEsc or Enter: back · q: quit")
	b.detail = text.Bytes()
}
