package format

import (
	"fmt"
	"io"
	"path"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"culprit/recording"
)

// writeOTLP writes one request of profiles of OpenTelemetry: a resource for each process, below it
// a profile that counts and, where there are times, one in ns. Samples of one thread and stack are
// one, with a value for each time.
func writeOTLP(w io.Writer, rec *recording.Recording, signal string, amounts []amount) error {
	made := pprofile.NewProfiles()
	tables := newOTLPMade(made.Dictionary(), rec)
	amounts = slices.Clone(amounts)
	slices.SortStableFunc(amounts, byTime)
	timed := slices.ContainsFunc(amounts, func(a amount) bool { return a.ns > 0 })
	for from := 0; from < len(amounts); {
		to := from
		for to < len(amounts) && amounts[to].pid == amounts[from].pid {
			to++
		}
		tables.process(made.ResourceProfiles().AppendEmpty(), signal, amounts[from:to], timed)
		from = to
	}
	text, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(made)
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("write otlp: %w", err)
	}
	return nil
}

// otlpMade fills the tables that all profiles share; the first entry of each is empty.
type otlpMade struct {
	rec        *recording.Recording
	of         pprofile.ProfilesDictionary
	texts      map[string]int32
	attributes map[otlpAttribute]int32
	stacks     map[int32]int32
	locations  map[int32]int32
	functions  map[[2]string]int32
	mappings   map[[2]string]int32
}

type otlpAttribute struct {
	name  string
	value any
}

func newOTLPMade(of pprofile.ProfilesDictionary, rec *recording.Recording) *otlpMade {
	of.StringTable().Append("")
	of.AttributeTable().AppendEmpty()
	of.StackTable().AppendEmpty()
	of.LocationTable().AppendEmpty()
	of.FunctionTable().AppendEmpty()
	of.MappingTable().AppendEmpty()
	of.LinkTable().AppendEmpty()
	return &otlpMade{rec: rec, of: of, texts: map[string]int32{"": 0}, attributes: map[otlpAttribute]int32{},
		stacks: map[int32]int32{recording.NoStack: 0}, locations: map[int32]int32{},
		functions: map[[2]string]int32{}, mappings: map[[2]string]int32{}}
}

// process writes what one process spent.
func (t *otlpMade) process(into pprofile.ResourceProfiles, signal string, amounts []amount, timed bool) {
	m := &t.rec.Manifest
	attributes := into.Resource().Attributes()
	if amounts[0].pid > 0 {
		attributes.PutInt("process.pid", int64(amounts[0].pid))
	}
	if m.Host != "" {
		attributes.PutStr("host.name", plain(m.Host))
	}
	if program := t.rec.Fact("target.executable"); program != "" {
		attributes.PutStr("process.executable.name", plain(path.Base(program)))
	}
	scope := into.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName(plain(m.Program))
	counts := scope.Profiles().AppendEmpty()
	t.about(counts, otlpCountName(signal), "count", signal)
	t.samples(counts, amounts, func(a amount) int64 { return a.count })
	if timed {
		times := scope.Profiles().AppendEmpty()
		name := signal
		if signal == recording.SignalOffCPU {
			name = "off_cpu"
		}
		t.about(times, name, "nanoseconds", signal)
		t.samples(times, amounts, func(a amount) int64 { return a.ns })
	}
}

func otlpCountName(signal string) string {
	if signal == recording.SignalCPU {
		return "samples"
	}
	return signal
}

func (t *otlpMade) about(profile pprofile.Profile, name, unit, signal string) {
	m := &t.rec.Manifest
	profile.SampleType().SetTypeStrindex(t.text(name))
	profile.SampleType().SetUnitStrindex(t.text(unit))
	if !m.StartedAt.IsZero() {
		profile.SetTime(pcommon.NewTimestampFromTime(m.StartedAt))
	}
	profile.SetDurationNano(uint64(max(0, m.WindowNs)))
	if signal == recording.SignalCPU && m.Hz > 0 {
		profile.PeriodType().SetTypeStrindex(t.text("cpu"))
		profile.PeriodType().SetUnitStrindex(t.text("nanoseconds"))
		profile.SetPeriod(int64(1e9 / float64(m.Hz)))
	}
}

// samples adds one for each thread and stack.
func (t *otlpMade) samples(profile pprofile.Profile, amounts []amount, value func(amount) int64) {
	type key struct {
		comm       string
		tid, stack int32
	}
	known := map[key]int{}
	start := uint64(0)
	if at := t.rec.Manifest.StartedAt; !at.IsZero() && at.Unix() > 0 {
		start = uint64(at.UnixNano())
	}
	for _, one := range amounts {
		if value(one) == 0 {
			continue
		}
		is := key{one.comm, one.tid, one.stack}
		at, has := known[is]
		if !has {
			at = profile.Samples().Len()
			known[is] = at
			t.begin(profile.Samples().AppendEmpty(), one)
		}
		sample := profile.Samples().At(at)
		sample.Values().Append(value(one))
		if start > 0 {
			sample.TimestampsUnixNano().Append(start + uint64(max(0, one.timeNs)))
		}
	}
}

func (t *otlpMade) begin(sample pprofile.Sample, one amount) {
	sample.SetStackIndex(t.stack(one.stack))
	if one.comm != "" {
		sample.AttributeIndices().Append(t.attribute("thread.name", plain(one.comm)))
	}
	if one.tid > 0 {
		sample.AttributeIndices().Append(t.attribute("thread.id", int64(one.tid)))
	}
}
