package try

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// resultBytesMax bounds a result that is read back: one with 10,000 trials and what they printed
// has a tenth.
const resultBytesMax = 64 << 20

// ReadResult reads the document of an experiment, as it stands in its case directory. What is null
// there is not known, and NaN here. It refuses other schemas, and conditions that do not exist.
func ReadResult(source io.Reader) (*Result, error) {
	text, err := io.ReadAll(io.LimitReader(source, resultBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	if len(text) > resultBytesMax {
		return nil, fmt.Errorf("read experiment: larger than %d MiB", resultBytesMax>>20)
	}
	var named struct{ Schema string }
	if json.Unmarshal(text, &named) == nil && named.Schema != Schema {
		return nil, fmt.Errorf("read experiment: schema is %.40q, and this culprit reads %q: was it written by a newer one?",
			named.Schema, Schema)
	}
	var r Result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	if len(r.Conditions) > maxConditions {
		return nil, fmt.Errorf("read experiment: %d conditions, and none has more than %d", len(r.Conditions),
			maxConditions)
	}
	for i := range r.Trials {
		if number := r.Trials[i].Condition; number < 0 || number >= len(r.Conditions) {
			return nil, fmt.Errorf("read experiment: a trial is of condition %d, of %d", number, len(r.Conditions))
		}
	}
	return &r, r.forgetUnknown(text)
}

// forgetUnknown takes metrics out of trials that are null in the document: the decoder makes 0 of
// them.
func (r *Result) forgetUnknown(text []byte) error {
	var known struct {
		Trials []struct {
			Metrics map[string]*float64 `json:"metrics"`
		} `json:"trials"`
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return fmt.Errorf("read experiment: %w", err)
	}
	for i, trial := range known.Trials {
		for name, value := range trial.Metrics {
			if value == nil {
				delete(r.Trials[i].Metrics, name)
			}
		}
	}
	return nil
}

// UnmarshalJSON leaves what is null, or not there, unknown.
func (e *Effect) UnmarshalJSON(text []byte) error {
	type plain Effect
	read := plain{Ratio: math.NaN(), Low: math.NaN(), High: math.NaN()}
	err := json.Unmarshal(text, &read)
	*e = Effect(read)
	return err
}

// UnmarshalJSON leaves what is null, or not there, unknown.
func (s *Spread) UnmarshalJSON(text []byte) error {
	type plain Spread
	read := plain{math.NaN(), math.NaN(), math.NaN()}
	err := json.Unmarshal(text, &read)
	*s = Spread(read)
	return err
}

// UnmarshalJSON leaves what is null, or not there, unknown.
func (t *Trend) UnmarshalJSON(text []byte) error {
	type plain Trend
	read := plain{Tau: math.NaN(), P: math.NaN()}
	err := json.Unmarshal(text, &read)
	*t = Trend(read)
	return err
}
