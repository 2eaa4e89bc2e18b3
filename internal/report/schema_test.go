package report

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/investigate"
)

// firstSchema is a case as culprit wrote it while places and counter-evidence were words alone,
// with most trials, facts and differences left out.
func firstSchema(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/case-1.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A case of the first schema says in every form what it said, and is written as one of today.
func TestFirstSchemaIsRead(t *testing.T) {
	c, err := Read(bytes.NewReader(firstSchema(t)))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "case-1.txt", []byte(textOf(t, c, TextOptions{})))
	const against = "no setting of the compiler is seen to differ: it compiles because there is " +
		"other code to run, or more of it"
	first, third := c.Suspects[0], c.Suspects[2]
	where := []string{"<module> main.js;main;findTemplate;statx", "system call statx"}
	if !slices.Equal(first.Where, where) {
		t.Errorf("the places are %q, want %q", first.Where, where)
	}
	if !slices.Equal(third.Against, []string{against}) {
		t.Errorf("what contradicts it is %q", third.Against)
	}
	again, err := Read(bytes.NewReader(jsonOf(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	if again.Schema != investigate.CaseSchema ||
		!slices.Equal(again.Suspects[0].Places, first.Places) ||
		!slices.Equal(again.Suspects[2].Doubts, third.Doubts) || again.Why != nil {
		t.Errorf("written again it is %s with %+v", again.Schema, again.Suspects)
	}
	if _, err := render(c); err != nil {
		t.Error(err)
	}
}

// A case of a newer culprit is refused in one line that says so, also where its fields have other
// types.
func TestNewerSchemaIsRefused(t *testing.T) {
	old := string(firstSchema(t))
	newer := strings.Replace(old, investigate.CaseSchemaFirst, "culprit.case/3", 1)
	other := strings.Replace(newer, `"excluded":0`, `"excluded":{"trials":0}`, 1)
	last := `{"suspects":[{"where":7}],"schema":"culprit.case/3"}`
	for _, text := range []string{newer, other, last} {
		_, err := Read(strings.NewReader(text))
		const want = `read case document: schema is "culprit.case/3", and this culprit reads ` +
			`"culprit.case/1" and "culprit.case/2": was it written by a newer one?`
		if err == nil || err.Error() != want {
			t.Errorf("error is %v\nwant %s", err, want)
		}
	}
	wrong := strings.Replace(old, `"excluded":0`, `"excluded":{}`, 1)
	_, err := Read(strings.NewReader(wrong))
	if err == nil || !strings.Contains(err.Error(), "excluded") {
		t.Errorf("error is %v, want what is wrong in a case of a known schema", err)
	}
}

// A suspect holds its places and doubts as values and in words, and a number that is not finite is
// null in it too.
func TestSuspectInJSON(t *testing.T) {
	c := worseCase()
	c.Suspects = c.Suspects[1:]
	c.Suspects[0].Share.High = math.Inf(1)
	c.Suspects[1].Places[0].Role = cause.HeldIn
	c.Suspects[1].InWords()
	text := string(jsonOf(t, c))
	for _, want := range []string{
		`"share":{"value":0.04,"low":0.01,"high":null}`,
		`"places":[` + "\n" + `{"kind":"code","name":"clone;ticker_thread;nanosleep"}` + "\n]",
		`"where":["clone;ticker_thread;nanosleep"]`,
		`{"kind":"few runs","text":"the rate follows the load in two of five runs"}`,
		`"against":["the rate follows the load in two of five runs"]`,
		`"where":["held in clock source kvm-clock"]`,
		`"setting":"clocksource.current"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document lacks %s", want)
		}
	}
}
