package count

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Schema names the lines that WriteJSON writes.
const Schema = "culprit.count/1"

// line is one row of one interval.
type line struct {
	Schema  string    `json:"schema"`
	Time    time.Time `json:"time"` // of the interval's begin
	Seconds float64   `json:"seconds"`
	By      string    `json:"by"`
	Row
}

// WriteJSON writes an interval as JSON lines, one for each row.
func WriteJSON(out io.Writer, interval *Interval) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, row := range interval.Rows {
		if err := encoder.Encode(line{Schema, interval.Begin.UTC(), interval.Seconds, interval.By, row}); err != nil {
			return fmt.Errorf("write counts as JSON: %w", err)
		}
	}
	return nil
}

// csvHeader are the columns of WriteCSV.
var csvHeader = []string{"time", "seconds", "by", "key", "event", "value", "low", "high", "unit", "scope", "asleep",
	"enabled", "running"}

// WriteCSV writes an interval as CSV, one line for each row and event. Derived numbers stand as
// events of their own.
func WriteCSV(out io.Writer, interval *Interval, header bool) error {
	writer := csv.NewWriter(out)
	if header {
		_ = writer.Write(csvHeader) // Error tells below
	}
	begin, seconds := interval.Begin.UTC().Format(time.RFC3339Nano), number(interval.Seconds)
	for _, row := range interval.Rows {
		for _, event := range interval.Events {
			count, found := row.Counts[event]
			if !found {
				continue
			}
			_ = writer.Write([]string{begin, seconds, interval.By, row.Key, event, number(count.Value), number(count.Low),
				number(count.High), count.Unit, count.Scope, count.Asleep, number(count.Enabled), number(count.Running)})
		}
		for _, name := range derivedNames() {
			derived, found := row.Derived[name]
			if !found {
				continue
			}
			_ = writer.Write([]string{begin, seconds, interval.By, row.Key, name, number(derived.Value),
				number(derived.Low), number(derived.High), "", ScopeCPU, "", "", ""})
		}
	}
	writer.Flush()
	if err := writer.Error(); err != nil {
		return fmt.Errorf("write counts as CSV: %w", err)
	}
	return nil
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// DerivedNames are the derived numbers that rows of an interval have, in their order.
func (i *Interval) DerivedNames() []string {
	var names []string
	for _, name := range derivedNames() {
		for _, row := range i.Rows {
			if _, found := row.Derived[name]; found {
				names = append(names, name)
				break
			}
		}
	}
	return names
}
