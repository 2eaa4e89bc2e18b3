package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"culprit/internal/serve"
)

// Limits of what can be asked for.
const (
	sideMax    = 100 // recordings of one side
	commandMax = 16 << 10
	recordMax  = 5 * time.Minute
	budgetMax  = 30 * time.Minute
	listMax    = 200 // entries of the library in one answer
)

type nothing struct{}

type libraryAsked struct {
	Search string `json:"search,omitempty" jsonschema:"words that must all stand in an entry; empty: all"`
	Offset int    `json:"offset,omitempty" jsonschema:"entries to pass over, where an answer said that there are more"`
}

// libraryAnswer is one page of the listing, the newest first.
type libraryAnswer struct {
	Schema  string        `json:"schema"`
	Entries []serve.Entry `json:"entries"`
	Total   int           `json:"total"`
	LeftOut string        `json:"left_out,omitempty"`
}

func (s *server) library(_ context.Context, _ *sdk.CallToolRequest, asked libraryAsked) (*sdk.CallToolResult, any,
	error) {
	listing, err := serve.List(s.options.Dir)
	if err != nil {
		return nil, nil, err
	}
	words := strings.Fields(strings.ToLower(asked.Search))
	entries := slices.DeleteFunc(listing.Entries, func(e serve.Entry) bool {
		if e.Of != "" && len(words) == 0 {
			return true // the evidence of a case, unless it was searched for
		}
		text := strings.ToLower(strings.Join([]string{e.Path, e.Kind, e.Title, e.Against, e.Outcome, e.Suspect, e.Host}, " "))
		return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
	slices.SortStableFunc(entries, func(a, b serve.Entry) int { return b.Started.Compare(a.Started) })
	answer := libraryAnswer{Schema: listing.Schema, Total: len(entries), LeftOut: listing.LeftOut}
	from := min(max(asked.Offset, 0), len(entries))
	answer.Entries = entries[from:min(from+listMax, len(entries))]
	var text strings.Builder
	for _, e := range answer.Entries {
		fmt.Fprintf(&text, "%s  %s  %s\n", e.Kind, e.Path, strings.TrimSpace(e.Outcome+" "+e.Suspect))
	}
	if rest := len(entries) - from - len(answer.Entries); rest > 0 {
		fmt.Fprintf(&text, "and %d more: ask with offset %d\n", rest, from+len(answer.Entries))
	}
	return said(text.String()), answer, nil
}

type explainAsked struct {
	Path   string `json:"path" jsonschema:"a recording (NAME.culprit) or the directory of a case, as the library names it"`
	Metric string `json:"metric,omitempty" jsonschema:"wall, cpu or auto"`
	Why    bool   `json:"why,omitempty" jsonschema:"also which rule gave, moved or took how much of the time"`
}

func (s *server) explain(ctx context.Context, _ *sdk.CallToolRequest, asked explainAsked) (*sdk.CallToolResult, any,
	error) {
	if err := s.below(asked.Path); err != nil {
		return nil, nil, err
	}
	args := []string{"explain"}
	if asked.Metric != "" {
		args = append(args, "--metric="+asked.Metric)
	}
	if asked.Why {
		args = append(args, "--why")
	}
	return s.read(ctx, args, "./"+asked.Path)
}

type compareAsked struct {
	A      []string `json:"a" jsonschema:"recordings of the side that is good; two or more give intervals"`
	B      []string `json:"b" jsonschema:"recordings of the other side"`
	Metric string   `json:"metric,omitempty" jsonschema:"wall, cpu or auto"`
	Per    string   `json:"per,omitempty" jsonschema:"unit of work: auto, run, second, cpu-second or request=N"`
}

func (s *server) compare(ctx context.Context, _ *sdk.CallToolRequest, asked compareAsked) (*sdk.CallToolResult, any,
	error) {
	args := []string{"compare"}
	for flag, side := range map[string][]string{"--a=./": asked.A, "--b=./": asked.B} {
		if len(side) == 0 || len(side) > sideMax {
			return nil, nil, fmt.Errorf("give 1 to %d recordings for each of a and b", sideMax)
		}
		for _, name := range side {
			if err := s.below(name); err != nil {
				return nil, nil, err
			}
			args = append(args, flag+name)
		}
	}
	if asked.Metric != "" {
		args = append(args, "--metric="+asked.Metric)
	}
	if asked.Per != "" {
		args = append(args, "--per="+asked.Per)
	}
	return s.read(ctx, args)
}

type tailAsked struct {
	Path string `json:"path" jsonschema:"a recording that has requests, as the library names it"`
}

func (s *server) tail(ctx context.Context, _ *sdk.CallToolRequest, asked tailAsked) (*sdk.CallToolResult, any, error) {
	if err := s.below(asked.Path); err != nil {
		return nil, nil, err
	}
	if !strings.HasSuffix(asked.Path, ".culprit") {
		return nil, nil, fmt.Errorf("%q is no recording; give one that ends in .culprit", asked.Path)
	}
	return s.read(ctx, []string{"tail"}, "./"+asked.Path)
}

type causesAsked struct {
	Cause string `json:"cause,omitempty" jsonschema:"one cause, such as lock.contended; empty: all"`
}

// causeAllowed keeps a name from being read as a path or a flag.
var causeAllowed = regexp.MustCompile(`^[a-z]+(\.[a-z-]+)?$`)

func (s *server) causes(ctx context.Context, _ *sdk.CallToolRequest, asked causesAsked) (*sdk.CallToolResult, any,
	error) {
	if asked.Cause == "" {
		return s.read(ctx, []string{"explain"})
	}
	if !causeAllowed.MatchString(asked.Cause) {
		return nil, nil, fmt.Errorf("%q is no cause; ask without one for the list", asked.Cause)
	}
	return s.readIn(ctx, "/", []string{"explain"}, asked.Cause) // no file of that name is meant
}

func (s *server) doctor(ctx context.Context, _ *sdk.CallToolRequest, _ nothing) (*sdk.CallToolResult, any, error) {
	return s.read(ctx, []string{"doctor"})
}

// below refuses what is not a file or folder within the directory; links that lead out of it, too.
func (s *server) below(name string) error {
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%q is no path below the directory; the library lists what there is", name)
	}
	info, err := s.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %q; the library lists what there is", name)
	case err != nil:
		return fmt.Errorf("%q cannot be read: %w", name, err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("%q is no file", name)
	}
	return nil
}
