// Package ask answers the questions over a fleet out of a store: which services and hosts there
// are, bands, compare, changes, facts, top, worth. It turns rows into hosts with one value each,
// asks the statistics beside it, and names the hosts to look at with the commands that prove an
// answer there.
//
//	answer, err := ask.Ask(ctx, store, ask.Request{Question: "bands", Service: "web", Span: span})
//
// It refuses questions that it does not know, services that the store has nothing of, and what its
// statistics refuse: too few hosts, too little history. What an answer could not see stands in
// Notes.
package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"culprit/internal/fleet/store"
	"culprit/internal/stat"
)

// ErrNothing is returned where the store has no windows of what is asked for.
var ErrNothing = errors.New("no windows")

// The questions.
const (
	Bands   = "bands"
	Compare = "compare"
	Changes = "changes"
	Facts   = "facts"
	Top     = "top"
	Worth   = "worth"
	Hosts   = "hosts"
	// Services is the one that is asked of no service.
	Services = "services"
)

// Request is a question. Times are seconds since 1970.
type Request struct {
	Question string     `json:"question"`
	Service  string     `json:"service"`
	Span     store.Span `json:"span"`
	// Metric is "" for the CPU time per request (cores where no requests are seen), "cores",
	// "latency", or the name of one that agents send.
	Metric string `json:"metric,omitempty"`
	// A and B choose hosts: "version=1.2,zone!=eu-1a". Baseline is a time before the difference was
	// made.
	A        string      `json:"a,omitempty"`
	B        string      `json:"b,omitempty"`
	Baseline *store.Span `json:"baseline,omitempty"`
	// Before makes compare one of the same hosts at two times: Before and Span.
	Before *store.Span `json:"before,omitempty"`
	// Within are labels that hosts are compared within: zone, instance type.
	Within []string `json:"within,omitempty"`
	// Frame is what worth is about, "" for the whole service; Effect is what happens to its time.
	Frame string `json:"frame,omitempty"`
	// Setting is "version", a label or a fact: top has the part of the hosts with each of its
	// values. Of worth it is NAME=VALUE, and chooses the hosts.
	Setting     string         `json:"setting,omitempty"`
	Effect      *stat.Interval `json:"effect,omitempty"`
	PerCoreHour float64        `json:"per_core_hour,omitempty"`
	// Smallest is the least change of the level that matters to changes.
	Smallest float64 `json:"smallest,omitempty"`
	// Most bounds how many rows an answer has.
	Most int `json:"most,omitempty"`
}

// Answer is what was found; one of the pointers is set, by the question.
type Answer struct {
	Question string `json:"question"`
	Service  string `json:"service"`
	From     int64  `json:"from"`
	Until    int64  `json:"until"`
	// Unit is that of the hosts' values: "CPU time per request, ns".
	Unit    string           `json:"unit"`
	Hosts   int              `json:"hosts"`
	Windows int64            `json:"windows"`
	Bands   *BandsFound      `json:"bands,omitempty"`
	Compare *ComparisonFound `json:"compare,omitempty"`
	Changes *ChangesFound    `json:"changes,omitempty"`
	Facts   *FactsFound      `json:"facts,omitempty"`
	Top     *TopFound        `json:"top,omitempty"`
	Worth   *WorthFound      `json:"worth,omitempty"`
	// Services are all that the store has, of the question for them.
	Services []store.Service `json:"services,omitempty"`
	// Each has the hosts of the answer with their values; of top and worth none.
	Each []HostValue `json:"each,omitempty"`
	// Incomplete says what could not be read: shards that did not answer, windows that wait for
	// one. None: all was read.
	Incomplete []string `json:"incomplete"`
	// Look are hosts to look at, Notes what the answer could not see.
	Look  []Look   `json:"look"`
	Notes []string `json:"notes"`
}

// Look is a host with what to do there.
type Look struct {
	Host     string   `json:"host"`
	Why      string   `json:"why"`
	Commands []string `json:"commands"`
	// Sides are windows of two sides that the last command compares, as files of the store. None:
	// it compares none.
	Sides [][]string `json:"sides,omitempty"`
}

// asker is one question while it is answered.
type asker struct {
	ctx     context.Context
	store   *store.Asking
	request Request
	answer  *Answer
	tell    func(stage string)
}

// How many rows an answer has where nobody says, and at most.
const usualRows, mostRows = 20, 1000

// Ask answers a request.
func Ask(ctx context.Context, from *store.Store, request Request) (*Answer, error) {
	return Telling(ctx, from, request, func(string) {})
}

// Telling answers a request and tells what it is doing, in words, while it does.
func Telling(ctx context.Context, from *store.Store, request Request, tell func(stage string)) (*Answer, error) {
	if request.Most <= 0 {
		request.Most = usualRows
	}
	request.Most = min(request.Most, mostRows)
	a := &asker{ctx: ctx, store: from.Asking(), request: request, tell: tell, answer: &Answer{Question: request.Question,
		Service: request.Service, From: request.Span.From, Until: request.Span.Until,
		Incomplete: []string{}, Look: []Look{}, Notes: []string{}}}
	questions := map[string]func() error{Bands: a.bands, Compare: a.compare, Changes: a.changes, Facts: a.facts,
		Top: a.top, Worth: a.worth, Hosts: a.hostsAlone, Services: a.services}
	answer, known := questions[request.Question]
	if !known {
		return nil, fmt.Errorf("no question %q: services, hosts, bands, compare, changes, facts, top or worth",
			request.Question)
	}
	for _, span := range []*store.Span{&request.Span, request.Before, request.Baseline} {
		if span != nil && span.From >= span.Until {
			return nil, fmt.Errorf("from %s until %s is no time", clock(span.From), clock(span.Until))
		}
	}
	err := answer()
	if err == nil {
		err = a.silent()
	}
	a.answer.Incomplete = a.store.Incomplete()
	if err != nil {
		err = fmt.Errorf("%s of %s: %w", request.Question, request.Service, err)
		if len(a.answer.Incomplete) > 0 {
			err = fmt.Errorf("%w; incomplete: %s", err, strings.Join(a.answer.Incomplete, "; "))
		}
		return nil, err
	}
	if thinned := a.store.Thinned(); thinned != "" {
		a.note("%s", thinned)
	}
	return a.answer, nil
}

func clock(second int64) string { return time.Unix(second, 0).UTC().Format("2006-01-02 15:04") }

func (a *asker) note(format string, arguments ...any) {
	if text := fmt.Sprintf(format, arguments...); !slices.Contains(a.answer.Notes, text) {
		a.answer.Notes = append(a.answer.Notes, text)
	}
}

// nothing says what the store has instead of windows of a time.
func (a *asker) nothing(span store.Span) error {
	services, err := a.store.Services(a.ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, service := range services {
		if service.Name == a.request.Service {
			return fmt.Errorf("%w from %s until %s: it has some from %s until %s", ErrNothing, clock(span.From),
				clock(span.Until), clock(service.First), clock(service.Last))
		}
		names = append(names, service.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: the store is empty", ErrNothing)
	}
	return fmt.Errorf("%w: the store has %s", ErrNothing, strings.Join(names[:min(len(names), 12)], ", "))
}

// look adds hosts with the commands that prove the answer there: the first is held against the
// second.
func (a *asker) look(service string, hosts ...hostWhy) {
	var sides [][]string
	for _, host := range hosts {
		if files := a.files(service, host.name, a.request.Span); len(files) > 0 {
			sides = append(sides, files)
		}
		look := Look{Host: host.name, Why: host.why, Commands: []string{}}
		look.Commands = append(look.Commands, recordThere(service, host))
		a.answer.Look = append(a.answer.Look, look)
	}
	if len(sides) == 2 && len(a.answer.Look) > 0 {
		last := &a.answer.Look[len(a.answer.Look)-1]
		last.Commands, last.Sides = append(last.Commands, CompareFiles(service, sides[0], sides[1])), sides
	}
}

// recordThere is the command that records the service on a host: its unit or container, else its
// process.
func recordThere(service string, host hostWhy) string {
	target := "--cgroup " + Quote("/sys/fs/cgroup"+host.cgroup)
	if host.cgroup == "" {
		target = `-p "$(pidof -s ` + Quote(service) + `)"`
	}
	return fmt.Sprintf("culprit record -d 30s %s -o %s.culprit", target, Quote(host.name))
}

// filesOfSide is how many windows of a host are held against such of another: their spread gives
// the intervals.
const filesOfSide = 4

// files are some windows of a host in the store, full ones before light ones.
func (a *asker) files(service, host string, span store.Span) (files []string) {
	kept, err := a.store.Windows(a.ctx, service, host, span, filesOfSide)
	if err != nil {
		return nil // the answer stands without them
	}
	for _, window := range kept {
		if window.Kind == kept[0].Kind { // a full one holds what a light one has not
			files = append(files, window.File)
		}
	}
	return files
}

// CompareFiles is the command that holds what windows tell of a service against each other, and
// names the suspects.
func CompareFiles(service string, a, b []string) string {
	words := []string{"culprit", "compare", "--service", Quote(service), "--a"}
	for _, file := range a {
		words = append(words, Quote(file))
	}
	words = append(words, "--b")
	for _, file := range b {
		words = append(words, Quote(file))
	}
	return strings.Join(words, " ")
}

// compareTimes is the command that does so on the host itself, where its agent keeps windows, of
// the service alone.
func compareTimes(service string, before, after store.Span) string {
	side := func(span store.Span) string {
		const form = "2006-01-02T15:04Z"
		return Quote(fmt.Sprintf("agent:%s@%s..%s", service, time.Unix(span.From, 0).UTC().Format(form),
			time.Unix(span.Until, 0).UTC().Format(form)))
	}
	return "culprit compare " + side(before) + " " + side(after)
}

type hostWhy struct{ name, why, cgroup string }

// Quote makes one word of a shell command out of a name that came from a host.
func Quote(text string) string {
	plain := text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("._/-:@+=", r)
	})
	if plain && !strings.HasPrefix(text, "-") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
