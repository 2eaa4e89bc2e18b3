package format

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"culprit/recording"
)

// otlpReader reads profiles of OpenTelemetry, as bytes or JSON, one request or many, as the
// collector's exporters write them (opentelemetry/proto/profiles/v1development of version 1.7 and
// later, whose tables are shared).
type otlpReader struct {
	names     *names
	rows      *rows
	facts     []recording.Fact
	labels    map[string]bool // that have no place in a recording
	negative  int64
	broken    int64 // samples that refer to what is not there
	firstNs   int64 // since 1970; of the first profile
	lastNs    int64
	lengthNs  int64 // of the longest profile
	periodNs  float64
	command   string
	processes map[int32]bool
	steps     int // frames put into stacks, all together
}

func newOTLP() *otlpReader {
	return &otlpReader{names: newNames(), rows: newRows(), labels: map[string]bool{}, processes: map[int32]bool{}}
}

// looksLikeOTLPJSON tells an export in JSON by its first member.
func looksLikeOTLPJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && head[0] == '{' && (bytes.Contains(head, []byte(`"resourceProfiles"`)) ||
		bytes.Contains(head, []byte(`"resource_profiles"`)))
}

func (o *otlpReader) read(_ string, input *bufio.Reader) error {
	text, err := uncompressed(input)
	if err != nil {
		return err
	}
	before := len(o.rows.list)
	is, framed := looksLikeOTLP(text[:min(len(text), detectBytes)])
	switch {
	case looksLikeOTLPJSON(text):
		err = o.readJSON(text)
	case is && framed:
		err = o.readFramed(text)
	default:
		err = o.request(text, decodeOTLP)
	}
	if err == nil && len(o.rows.list) == before && o.negative == 0 {
		err = errors.New("the profile has no samples; versions of the protocol before 1.7 are not read")
	}
	return err
}

// readFramed reads requests that each stand behind four bytes of length.
func (o *otlpReader) readFramed(text []byte) error {
	for len(text) > 0 {
		if len(text) < 4 {
			return errors.New("the profile is cut off")
		}
		length := int64(binary.BigEndian.Uint32(text))
		if text = text[4:]; length > int64(len(text)) {
			return errors.New("the profile is cut off")
		}
		if err := o.request(text[:length], decodeOTLP); err != nil {
			return err
		}
		text = text[length:]
	}
	return nil
}

// readJSON reads requests one after the other, each on a line or not.
func (o *otlpReader) readJSON(text []byte) error {
	if bytes.Count(text, []byte{'{'})+bytes.Count(text, []byte{'['}) > maxOTLPMessages {
		return fmt.Errorf("it has more than %d parts; export a shorter time", maxOTLPMessages)
	}
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		var request json.RawMessage
		switch err := in.Decode(&request); {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the profile is cut off")
		case err != nil:
			return fmt.Errorf("damaged profile: %w", err)
		}
		decode := func(text []byte) (pprofile.Profiles, error) {
			return (&pprofile.JSONUnmarshaler{}).UnmarshalProfiles(text)
		}
		if err := o.request(request, decode); err != nil {
			return err
		}
	}
}

func decodeOTLP(text []byte) (pprofile.Profiles, error) {
	if err := checkOTLP(text); err != nil {
		return pprofile.Profiles{}, err
	}
	return (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(text)
}

// request reads one request. It guards against a library that was not made for hostile input.
func (o *otlpReader) request(text []byte, decode func([]byte) (pprofile.Profiles, error)) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("damaged profile: %v", broken)
		}
	}()
	parsed, err := decode(text)
	if err != nil {
		return fmt.Errorf("damaged, or of a version of the protocol before 1.7: %w", err)
	}
	tables := newOTLPTables(o, parsed.Dictionary())
	for _, resource := range parsed.ResourceProfiles().All() {
		above := o.resource(resource.Resource())
		for _, scope := range resource.ScopeProfiles().All() {
			cpu := tables.cpuOf(scope)
			for _, profile := range scope.Profiles().All() {
				o.profile(tables, profile, above, cpu)
			}
		}
	}
	return nil
}

// resource reads which process it is of.
func (o *otlpReader) resource(of pcommon.Resource) (key rowKey) {
	name := ""
	for attribute, value := range of.Attributes().All() {
		switch attribute {
		case "process.pid":
			key.pid = threadNumber(value.Int())
		case "process.executable.name", "service.name":
			if name == "" || attribute == "process.executable.name" {
				name = value.AsString()
			}
		}
	}
	if name != "" {
		key.comm = o.names.text([]byte(name))
		if o.command == "" {
			o.command = cutText(name, maxText)
		}
	}
	if key.pid > 0 {
		o.processes[key.pid] = true
	}
	return key
}

func threadNumber(of int64) int32 {
	if of < 0 || of >= 1<<31 {
		return 0
	}
	return int32(of)
}

func (o *otlpReader) profile(tables *otlpTables, profile pprofile.Profile, above rowKey, cpu otlpCPU) {
	signal, ns := tables.signalOf(profile)
	periodNs := float64(foldedCPUPeriod)
	unit := unitNs(tables.text(profile.PeriodType().UnitStrindex()))
	if unit > 0 && profile.Period() > 0 {
		periodNs = min(maxAmount, float64(profile.Period())*unit)
		o.periodNs = periodNs
	}
	if start := int64(min(profile.Time(), maxUnixNs)); start > 0 {
		if o.firstNs == 0 {
			o.firstNs = start
		}
		length := clampAmount(int64(min(profile.DurationNano(), maxAmount)))
		o.lengthNs = max(o.lengthNs, length)
		o.lastNs = max(o.lastNs, start+length)
	}
	worth := otlpWorth{ns: ns}
	if signal == recording.SignalCPU {
		worth.silent = ns > 0 && cpu.counted
		if ns == 0 && !cpu.timed {
			worth.each = periodNs
		}
	}
	above.signal = o.names.text([]byte(signal))
	for _, sample := range profile.Samples().All() {
		o.sample(tables, sample, above, worth)
	}
}

// maxUnixNs bounds times since 1970 to the year 2200.
const maxUnixNs = 7_258_118_400e9

func (o *otlpReader) finish() (*recording.Recording, error) {
	rec := weighed(o.rows, o.names)
	rec.Facts = o.facts
	lose(rec, "otlp: negative values (a difference of two profiles)", o.negative)
	lose(rec, "otlp: samples that refer to what the file does not hold", o.broken)
	m := &rec.Manifest
	if o.firstNs > 0 {
		m.StartedAt = time.Unix(0, o.firstNs)
	}
	if o.periodNs >= 1 {
		m.Hz = int(1e9/o.periodNs + 0.5)
	}
	if len(o.processes) <= 1 {
		m.Target.Command = o.command
	}
	m.Metrics = map[string]float64{"cpu": cpuSeconds(rec)}
	setWindow(rec, o.rows, 0)
	if length := max(o.lengthNs, o.lastNs-o.firstNs); length > 0 && length <= maxAmount {
		m.WindowNs = length
		m.Metrics["wall"] = float64(m.WindowNs) / 1e9
	}
	times := ""
	if !o.rows.timed {
		times = " no times,"
	}
	spots := []string{"imported from OTLP profiles:" + times + " no waits one by one, no system calls, no settings"}
	m.BlindSpots = append(lacks(append(spots, keptForExport(rec, o.labels)...)...), m.BlindSpots...)
	return rec, nil
}
