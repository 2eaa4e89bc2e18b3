package corpus

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// example is a small pair of the corpus.
const example = "../cause/testdata/corpus/clock-often-c.zst"

// documentOf unpacks a file.
func documentOf(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	text, err := reader.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func packed(t testing.TB, text []byte) []byte {
	t.Helper()
	writer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return writer.EncodeAll(text, nil)
}

func TestPairIsReadAsItWasWritten(t *testing.T) {
	pair, err := Open(example)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := pair.Save(folder); err != nil {
		t.Fatal(err)
	}
	again, err := Open(filepath.Join(folder, pair.Name+Extension))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(pair, again) {
		t.Error("the pair that was read is not the one that was written")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDocumentsRefused(t *testing.T) {
	text := string(documentOf(t, example))
	for _, c := range []struct{ old, new, want string }{
		{`{"version":1,`, `{"version":2,`, "version 2"},
		{`{"version":1,`, `{"version":1,"colour":"red",`, "unknown object member name"},
		{`"explained":"cpu"`, `"explained":"rss"`, "missing"},
		{`"clock_raw":[`, `"clock_wet":[`, "clock_wet"},
		{`"stack":1,`, `"stack":100000,`, "does not fit"},
		{`"place":"`, `"place":"(`, "place of the truth"},
	} {
		if !strings.Contains(text, c.old) {
			t.Fatalf("the document has no %s", c.old)
		}
		_, err := Read(bytes.NewReader(packed(t, []byte(strings.Replace(text, c.old, c.new, 1)))))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: error %v, want one with %q", c.new, c.old, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	small, err := json.Marshal(document{Version: version, Explained: "cpu",
		Seconds: map[string]*seconds{
			"cpu": {sides: sides{vector{1}, vector{2}}, Paths: []path{{Kind: "running"}}}},
		Stacks: [][]int{{0}},
		Frames: []frame{{Name: "main", Kind: "native"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	f.Fuzz(func(t *testing.T, text []byte) {
		pair, err := parse(text)
		if (pair == nil) == (err == nil) {
			t.Fatalf("both or neither: %v, %v", pair, err)
		}
		if err == nil {
			_, _ = pair.Answer()
		}
	})
}
