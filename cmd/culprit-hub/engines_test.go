package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/cmd/culprit-hub/clickhouse"
	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/store"
	"culprit/internal/stat"
)

// questions are one of each kind, and each way to put it, of the fleet that fleetOf makes.
func questions() map[string]ask.Request {
	end := day0.Add(13 * time.Hour).Unix()
	whole := store.Span{From: day0.Unix(), Until: end}
	late := store.Span{From: day0.Add(9 * time.Hour).Unix(), Until: end}
	early := &store.Span{From: day0.Unix(), Until: day0.Add(6 * time.Hour).Unix()}
	effect := stat.Interval{Value: -0.2, Low: -0.24, High: -0.16}
	all := map[string]ask.Request{
		"bands":          {Question: ask.Bands, Span: whole},
		"bands of cores": {Question: ask.Bands, Span: whole, Metric: "cores"},
		"metric":         {Question: ask.Bands, Span: whole, Metric: "cycles"},
		"facts":          {Question: ask.Facts, Span: whole},
		"facts within":   {Question: ask.Facts, Span: whole, Within: []string{"zone"}},
		"changes":        {Question: ask.Changes, Span: whole},
		"top":            {Question: ask.Top, Span: whole, PerCoreHour: 0.04},
		"top of a zone":  {Question: ask.Top, Span: whole, A: "zone=z3"},
		"worth":          {Question: ask.Worth, Span: whole, Effect: &effect, PerCoreHour: 0.04},
		"worth of code":  {Question: ask.Worth, Span: whole, Effect: &effect, Frame: "work"},
		"top of a fact":  {Question: ask.Top, Span: whole, Setting: "thp", PerCoreHour: 0.04},
		"top of a label": {Question: ask.Top, Span: whole, Setting: "zone", A: "zone!=z3"},
		"top of version": {Question: ask.Top, Span: late, Setting: "version"},
		"no such fact":   {Question: ask.Top, Span: whole, Setting: "no'such?fact"},
		"worth of fact":  {Question: ask.Worth, Span: whole, Effect: &effect, Setting: "thp=never", PerCoreHour: 0.04},
		"worth of none":  {Question: ask.Worth, Span: whole, Effect: &effect, Setting: "thp=madvise"},
		"versions":       {Question: ask.Compare, Span: late, A: "version=1", B: "version=2", Baseline: early},
		"groups":         {Question: ask.Compare, Span: whole, A: "zone=z1", B: "zone=z2"},
		"before":         {Question: ask.Compare, Span: late, A: "version=1", Before: early},
		"nothing":        {Question: ask.Top, Span: store.Span{From: 1, Until: 2}},
	}
	for name, request := range all {
		request.Service = "web"
		all[name] = request
	}
	other := all["top"]
	other.Service = "no such service"
	all["no such service"] = other
	return all
}

// answersOf asks all questions; paths of the store's own directory are alike in all.
func answersOf(t *testing.T, s *store.Store, directory string) map[string]string {
	t.Helper()
	answers := map[string]string{}
	for name, request := range questions() {
		answer, err := ask.Ask(t.Context(), s, request)
		text, _ := json.Marshal(answer)
		answers[name] = strings.ReplaceAll(string(text), directory, "STORE")
		if err != nil {
			answers[name] = err.Error()
		}
	}
	return answers
}

// sameButForRounding compares two texts of JSON; the order in which an engine adds numbers is its
// own.
func sameButForRounding(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return alike(x, y)
}

func alike(x, y any) bool {
	switch x := x.(type) {
	case float64:
		y, is := y.(float64)
		return is && math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y))
	case []any:
		y, is := y.([]any)
		return is && slices.EqualFunc(x, y, alike)
	case map[string]any:
		y, is := y.(map[string]any)
		if !is || len(x) != len(y) {
			return false
		}
		for key := range x {
			if !alike(x[key], y[key]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(x, y)
}

// engineOf opens a cluster's engine for a directory.
func engineOf(t testing.TB, dsn, directory string) store.Engine {
	t.Helper()
	address, err := clickhouse.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := address.Open(t.Context(), directory, "default")
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// askedBeside asks the rows of a cluster while its hub has them open: the answers are the hub's,
// but that files are not named.
func askedBeside(t *testing.T, dsn string, want map[string]string) {
	t.Helper()
	address, err := clickhouse.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	_, err = address.OpenToRead(t.Context(), "nobody")
	if err == nil || !strings.Contains(err.Error(), "no culprit-hub") {
		t.Errorf("a tenant that nobody has: %v", err)
	}
	engine, err := address.OpenToRead(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	s := store.OpenToRead(engine)
	defer s.Close()
	for name, got := range answersOf(t, s, "no directory") {
		if !sameButForRounding(withoutFiles.ReplaceAllString(want[name], ""), withoutFiles.ReplaceAllString(got, "")) {
			t.Errorf("%s, beside the hub:\n%s\nthe hub's:\n%s", name, got, want[name])
		}
	}
}

// withoutFiles are commands about windows' files.
var withoutFiles = regexp.MustCompile(`,?"culprit compare --service \S+ --a [^"]*"|,"sides":\[\[[^]]*\],\[[^]]*\]\]`)

// Every question has the same answer on DuckDB, on two real ClickHouse servers as two shards, and
// in the SQL of today's ClickHouse.
func TestEnginesAgree(t *testing.T) {
	t.Parallel()
	all := fleetOf(t, 40, 12)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	type answers = map[string]string
	put := func(engine store.Engine, directory string, beside ...func(answers)) answers {
		s, err := store.Open(t.Context(), directory, engine, quiet)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		takeAll(t, s, all)
		takeAll(t, s, all[:40])
		answers := answersOf(t, s, directory)
		for _, look := range beside {
			look(answers)
		}
		if err := s.Forget(t.Context(), day0.Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		services, err := s.Asking().Services(t.Context())
		answers["forgotten"] = fmt.Sprint(services, err)
		return answers
	}
	directory := t.TempDir()
	duck, err := openDuck(t.Context(), directory, "")
	if err != nil {
		t.Fatal(err)
	}
	want := put(duck, directory)
	if strings.Contains(want["bands"], `"two":false`) || !strings.Contains(want["metric"], "cycles per request") ||
		!strings.Contains(want["top of a fact"], `"name":"never"`) || !strings.Contains(want["worth of fact"], "thp=never") ||
		!strings.HasPrefix(want["forgotten"], "[] <nil>") {
		t.Fatalf("%s\n%s\n%s", want["bands"], want["metric"], want["forgotten"])
	}
	check := func(t *testing.T, got map[string]string) {
		for name, text := range want {
			if !sameButForRounding(text, got[name]) {
				t.Errorf("%s:\n%s\non DuckDB:\n%s", name, got[name], text)
			}
		}
	}
	t.Run("shards", func(t *testing.T) {
		_, dsn := startServers(t, 2)
		directory := t.TempDir()
		check(t, put(engineOf(t, dsn, directory), directory, func(want answers) { askedBeside(t, dsn, want) }))
	})
	t.Run("chdb", func(t *testing.T) { check(t, put(openChdb(t), t.TempDir())) })
}
