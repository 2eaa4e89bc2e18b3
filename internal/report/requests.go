package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"culprit/internal/tail"
	"culprit/recording"
)

// Shown of requests; the recording has all.
const (
	kindsMax   = 12
	sharesMax  = 4
	sharesFrom = 0.01 // of the time
	unsentFrom = 1e-3 // seconds; less may be a tick of the kernel's clock, now and then
)

// Requests writes what the requests of a recording were; nothing where none were recorded.
func Requests(w io.Writer, rec *recording.Recording, opts TextOptions) error {
	if rec.Requests == nil {
		return nil
	}
	p := newPage(opts)
	p.blank()
	p.requests(tail.Summarize(rec))
	p.unfollowed(rec)
	if rec.Manifest.Watched != nil {
		p.entry("watched", rec.Manifest.Watched.String(), plain, dim)
	}
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write requests: %w", err)
	}
	return nil
}

func (p *page) requests(kinds []tail.Kind) {
	if len(kinds) == 0 {
		p.entry("requests", "none were answered: no socket of the target listens, or nobody asked", bold, plain)
		return
	}
	fmt.Fprintf(&p.out, "%s %s\n", p.style(fmt.Sprintf("%-*s", labelWidth, "requests"), bold),
		p.style(fmt.Sprintf("%9s %10s %10s %10s %10s  %s", "count", "p50", "p95", "p99", "p99.9", "kind"), dim))
	service := ""
	for _, kind := range kinds[:min(len(kinds), kindsMax)] {
		if of := serviceTitle(&kind); of != service {
			service = of
			p.entry("", service, plain, bold)
		}
		l := &kind.Latency
		p.tableRow(fmt.Sprintf("%9s %10s %10s %10s %10s  %s", digits(float64(kind.Count)), amount(l.P50, "s"),
			amount(l.P95, "s"), amount(l.P99, "s"), amount(l.P999, "s"), visible(kindTitle(&kind), 40)), plain)
		p.tableRow(strings.Repeat(" ", 10)+sharesText(&kind), dim)
	}
	if more := len(kinds) - kindsMax; more > 0 {
		p.entry("", "and "+plural(more, "more kind"), dim, dim)
	}
}

// tableRow writes a line of a table: its blanks stay.
func (p *page) tableRow(text, style string) {
	fmt.Fprintf(&p.out, "%s %s\n", strings.Repeat(" ", labelWidth), p.style(text, style))
}

func serviceTitle(kind *tail.Kind) string {
	who := visible(kind.Comm, 20)
	if who == "" {
		who = fmt.Sprintf("process %d", kind.Pid)
	}
	if kind.Side == recording.SideClient {
		return fmt.Sprintf("asked of %s by %s", visible(kind.Service, 60), who)
	}
	return fmt.Sprintf("%s of %s", visible(kind.Service, 60), who)
}

func kindTitle(kind *tail.Kind) string {
	switch {
	case kind.Kind != "" && kind.Protocol != "http":
		return kind.Protocol + " " + kind.Kind
	case kind.Kind != "":
		return kind.Kind
	case kind.Protocol != "":
		return kind.Protocol
	}
	return "(by turns)"
}

// sharesText says what the time of a kind went to, the largest shares first.
func sharesText(kind *tail.Kind) string {
	words := []string{fmt.Sprintf("%s/s", digits(kind.Throughput))}
	if kind.Errors > 0 {
		words = append(words, plural(int(kind.Errors), "error"))
	}
	if kind.Side == recording.SideClient {
		return strings.Join(words, " · ")
	}
	s := &kind.Shares
	shares := []struct {
		name  string
		share float64
	}{{"waits to be read", s.Wait}, {"upload", s.Upload}, {"between threads", s.Handover}, {"waits for a CPU", s.Queued},
		{"lock", s.Lock}, {"sleep", s.Sleep}, {"disk and file", s.Disk}, {"page fault", s.Fault},
		{"downstream", s.Downstream}, {"network", s.Net}, {"other waits", s.Other}, {"not known", s.Unknown},
		{"runs", s.CPU}}
	slices.SortStableFunc(shares, func(a, b struct {
		name  string
		share float64
	}) int {
		return cmp.Compare(b.share, a.share)
	})
	for _, share := range shares[:sharesMax] {
		if share.share >= sharesFrom {
			words = append(words, share.name+" "+percent(share.share))
		}
	}
	if kind.Unsent >= unsentFrom {
		words = append(words, "then "+amount(kind.Unsent, "s")+" in the socket")
	}
	return strings.Join(words, " · ")
}

// unfollowed says what turns on sockets do not tell.
func (p *page) unfollowed(rec *recording.Recording) {
	for i := range rec.Services {
		service := &rec.Services[i]
		var words []string
		for _, count := range []struct {
			count int64
			text  string
		}{{service.Pushes, "sends that nobody had asked for"},
			{service.Pipelined, "reads with several requests, which count as one"},
			{service.Multiplexed, "streams of HTTP/2 that could not be followed"}} {
			if count.count > 0 {
				words = append(words, digits(float64(count.count))+" "+count.text)
			}
		}
		if service.InProgress > 0 {
			words = append(words, fmt.Sprintf("%s not answered when the window ended, the oldest %v old",
				digits(float64(service.InProgress)), time.Duration(service.OldestNs).Round(time.Millisecond)))
		}
		if len(words) > 0 {
			p.entry("", visible(service.Service, 60)+": "+strings.Join(words, "; "), plain, dim)
		}
	}
}
