package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"culprit/internal/compare/differs"
	"culprit/internal/investigate"
)

func jsonOf(t testing.TB, c *investigate.Case) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := JSON(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// That nothing differs is another answer than that nothing was recorded, after reading back as
// well.
func TestNothingDiffersIsToldFromNotRecorded(t *testing.T) {
	for want, list := range map[string][]differs.Difference{"": nil, differsNothing: {}} {
		c := worseCase()
		c.Differs = list
		got, err := Read(bytes.NewReader(jsonOf(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		if words := differsWords(got); words != want {
			t.Errorf("of %#v it says %q, want %q", list, words, want)
		}
	}
}

// TestJSONRoundTrip reads back what was written and gets the same case, and the
// same as encoding/json reads, whose tags the encoder follows.
func TestJSONRoundTrip(t *testing.T) {
	want := worseCase()
	for i, node := range want.Profile.Nodes { // what is not UTF-8 cannot stand in JSON
		want.Profile.Nodes[i].Name = strings.ToValidUTF8(node.Name, "?")
	}
	text := jsonOf(t, want)
	got, err := Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if again := jsonOf(t, got); !bytes.Equal(again, text) {
		t.Error("written, read and written again, the document differs")
	}
	if !reflect.DeepEqual(got.Profile, want.Profile) ||
		!reflect.DeepEqual(got.Trials[3].Metrics, want.Trials[3].Metrics) {
		t.Error("the profile or the metrics changed on the way")
	}
	standard, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs map[string]any
	if err := json.Unmarshal(text, &ours); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(standard, &theirs); err != nil {
		t.Fatal(err)
	}
	for name, value := range theirs {
		if value != nil && name != "suspects" && !reflect.DeepEqual(ours[name], value) {
			t.Errorf("field %s differs from what encoding/json writes", name)
		}
	}
}

func TestJSONKeepsTheContract(t *testing.T) {
	var document map[string]any
	if err := json.Unmarshal(jsonOf(t, emptyCase()), &document); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"metrics", "suspects", "blind_spots", "warnings", "trials", "items", "settings",
		"facts"} {
		if list, ok := document[name].([]any); !ok || len(list) != 0 {
			t.Errorf("%s is %v, want []", name, document[name])
		}
	}
	if document["schema"] != "culprit.case/2" || document["outcome"] != "undecided" {
		t.Errorf("schema %v, outcome %v", document["schema"], document["outcome"])
	}
	if value, found := document["elapsed_s"]; !found || value != nil {
		t.Errorf("elapsed_s is %v, want null for what is not a number", value)
	}
	effect := document["effect"].(map[string]any)
	for _, name := range []string{"ratio", "low", "high"} {
		if effect[name] != nil {
			t.Errorf("effect.%s is %v, want null", name, effect[name])
		}
	}
	c := worseCase()
	c.Trials[0].Metrics["odd"] = math.Inf(1)
	if !bytes.Contains(jsonOf(t, c), []byte(`"odd":null`)) {
		t.Error("an infinite metric is not null")
	}
}

func TestJSONOfHostileNames(t *testing.T) {
	text := jsonOf(t, hostileCase())
	if !utf8.Valid(text) || bytes.Contains(text, []byte("</script")) {
		t.Error("the document is not plain UTF-8 text without markup")
	}
	if _, err := Read(bytes.NewReader(text)); err != nil {
		t.Error(err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "cut short": `{"schema":"culprit.case/1"`, "another schema": `{"schema":"culprit.case/9"}`,
		"two documents": `{"schema":"culprit.case/1"}{}`, "a list": `[]`,
	} {
		if c, err := Read(strings.NewReader(text)); err == nil || c != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: case %v, error %v", name, c != nil, err)
		}
	}
}

// FuzzRead: whatever is read, the answer is a case or an error, and a case can be shown.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schema":"culprit.case/1","outcome":"worse","effect":{"ratio":-1}}`))
	f.Add([]byte(`{"schema":"culprit.case/2","suspects":[{}],"why":{"growth":1,"second":{},
		"entries":[{"from":["a","b"]}]}}`))
	f.Add([]byte(`{"schema":"culprit.case/1","b":{},"profile":{"nodes":[{"depth":9},{"depth":-4}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Read(bytes.NewReader(text))
		if (c == nil) == (err == nil) {
			t.Fatalf("case %v and error %v", c != nil, err)
		}
		if c == nil {
			return
		}
		if err := Text(&bytes.Buffer{}, c, TextOptions{Width: 60}); err != nil {
			t.Fatal(err)
		}
		if err := Why(&bytes.Buffer{}, c, TextOptions{Width: 60}); err != nil {
			t.Fatal(err)
		}
		if _, err := render(c); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHTMLAppearsWholeOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report.html")
	if err := HTML(path, hostileCase()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range hostileNames()[:2] {
		if bytes.Contains(text, []byte(name)) {
			t.Errorf("the page contains %q as it is", name)
		}
	}
	if !bytes.Contains(text, []byte("<noscript><pre>WORSE")) {
		t.Error("readers without JavaScript see nothing")
	}
	missing := filepath.Join(folder, "missing", "report.html")
	if err := HTML(missing, worseCase()); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("error is %v for a folder that is not there", err)
	}
	if err := HTML(path, nil); err == nil {
		t.Error("no error without a case")
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, want the report alone (%v)", len(entries), err)
	}
}
