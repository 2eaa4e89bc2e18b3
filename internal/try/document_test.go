package try

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

const reference = "../../docs/reference/"

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(reference + "experiment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// valid tells what the schema says of a YAML text.
func valid(t *testing.T, schema *jsonschema.Schema, text string) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	plain, err := json.Marshal(value)
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(plain)))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(instance)
}

// Every example of the reference is valid by the schema, is read, and makes an experiment.
func TestExamplesOfTheReference(t *testing.T) {
	text, err := os.ReadFile(reference + "experiment.md")
	if err != nil {
		t.Fatal(err)
	}
	schema := compiledSchema(t)
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(examples) < 3 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, example := range examples {
		example[1] = strings.ReplaceAll(example[1], "pid: 4711", "pid: 1")
		if err := valid(t, schema, example[1]); err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
		e, err := Read(strings.NewReader(example[1]))
		if err == nil {
			e, err = e.Settle()
		}
		if err == nil {
			err = e.Check()
		}
		if err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
	}
}

// What the reader and the schema know is the same: neither accepts a field that the other refuses.
func TestSchemaHasEveryField(t *testing.T) {
	content, err := os.ReadFile(reference + "experiment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	parse := func(text []byte) object {
		var found object
		if err := json.Unmarshal(text, &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	whole := parse(content)
	for name, each := range map[string]struct {
		of reflect.Type
		in object
	}{
		"experiment": {reflect.TypeFor[document](), whole},
		"vary":       {reflect.TypeFor[varied](), parse(parse(whole.Properties["vary"]).Items)},
		"latency":    {reflect.TypeFor[latencyDocument](), parse(whole.Properties["latency"])},
		"service":    {reflect.TypeFor[serviceDocument](), parse(whole.Properties["service"])},
	} {
		for i := range each.of.NumField() {
			field := each.of.Field(i).Tag.Get("yaml")
			if _, known := each.in.Properties[field]; !known {
				t.Errorf("the schema of %s lacks %s", name, field)
			}
			delete(each.in.Properties, field)
		}
		for field := range each.in.Properties {
			t.Errorf("the schema of %s has %s, which is not read", name, field)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	schema := compiledSchema(t)
	for text, want := range map[string]string{
		"":                     "nothing is in it",
		"vary: [":              "read experiment",
		"varied: []\n":         "varied",
		"command: x\n---\nx\n": "something follows",
		"vary:\n  - {name: n, levels: [1, 2], negativ: true}\n":            "negativ",
		"vary:\n  - {name: n, levels: [{name: a, valeu: b}, 2]}\n":         "valeu",
		"budget: 10\nvary:\n  - {name: n, levels: [1, 2]}\n":               "write for example 60s",
		"smallest: much\nvary:\n  - {name: n, levels: [1, 2]}\n":           "percentage",
		"latency: {format: lines}\nvary:\n  - {name: n, levels: [1, 2]}\n": "unit",
		"metrics: [x]\nvary:\n  - {name: n, levels: [1, 2]}\n":             `"x"`,
	} {
		e, err := Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %+v; want %q", text, err, e, want)
		}
		isOfSchema := want == `"x"` || want == "unit" || want == "something follows"
		if errSchema := valid(t, schema, text); errSchema == nil && !isOfSchema {
			t.Errorf("the schema accepts %q", text)
		}
	}
}

// Values of levels are kept as they are written.
func TestLevelsAsTheyAreWritten(t *testing.T) {
	e, err := Read(strings.NewReader("command: [echo, '{n}']\nwash_out: 0s\nvary:\n" +
		"  - {name: n, levels: [010, yes, 1.50, {name: long, value: 'a, b'}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Level{{"010", "010"}, {"yes", "yes"}, {"1.50", "1.50"}, {"long", "a, b"}}
	if !reflect.DeepEqual(e.Factors[0].Levels, want) || e.WashOut == nil || *e.WashOut != time.Duration(0) {
		t.Errorf("%+v", e)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("command: x {n}\nvary:\n  - {name: n, levels: [1, 2]}\n")
	f.Add("vary: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if e, err = e.Settle(); err == nil {
			_ = e.Check() // it must not panic
		}
	})
}
