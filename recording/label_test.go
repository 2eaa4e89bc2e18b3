package recording

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// Labels are read back as they were; more or longer ones than the limits are neither written nor
// read.
func TestLabels(t *testing.T) {
	r := &Recording{Manifest: Manifest{Schema: SchemaVersion, Metrics: map[string]float64{},
		Labels: map[string]string{"version": "1.4.2"}}}
	var file bytes.Buffer
	if err := Encode(&file, r); err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || !maps.Equal(got.Manifest.Labels, r.Manifest.Labels) {
		t.Errorf("%+v, %v", got, err)
	}
	many := map[string]string{}
	for i := range MaxLabels + 1 {
		many[fmt.Sprint(i)] = ""
	}
	for _, labels := range []map[string]string{many, {"a": strings.Repeat("b", MaxLabelBytes+1)}} {
		r.Manifest.Labels = labels
		if err := Encode(&file, r); err == nil {
			t.Errorf("%d labels are written", len(labels))
		}
	}
}
