package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"culprit/internal/fleet/window"
	"culprit/recording"
)

const (
	service        = "web"
	requestNs      = 2e6 // CPU time of a request on a host in the middle
	replacedADay   = 0.02
	rolloutHours   = 6
	luckFacts      = 80
	windowLength   = time.Minute
	functionShare  = 0.02 // of the planted function on a host of the cheap band
	clockWrongness = 90 * time.Second
)

// host is one of the fleet, and those that replace it.
type host struct {
	plan    plan
	random  *rand.Rand
	base    *recording.Recording
	number  int
	life    int // how often it was replaced
	own     float64
	dear    bool
	updated int // hour at which it gets the new version
	skew    time.Duration
	labels  map[string]string
	facts   []recording.Fact
	started time.Time
}

func newHost(p plan, base *recording.Recording, number int) *host {
	random := rand.New(rand.NewPCG(p.Seed, uint64(number)))
	h := &host{plan: p, random: random, number: number, base: base, updated: p.Rollout + random.IntN(rolloutHours),
		dear: float64(number) < p.Band*float64(p.Hosts)}
	h.begin()
	return h
}

// begin is a new machine in the same place.
func (h *host) begin() {
	h.own = h.plan.Spread * h.random.NormFloat64()
	h.skew = time.Duration((2*h.random.Float64() - 1) * float64(clockWrongness))
	h.labels = map[string]string{"zone": fmt.Sprint("zone-", h.number%3), "rack": fmt.Sprint("r", h.random.IntN(10))}
	h.started = h.plan.End.Add(-time.Duration(h.plan.Hours+h.random.IntN(400)) * time.Hour)
	value := "always"
	if h.dear {
		value = "never"
	}
	h.facts = append([]recording.Fact{}, h.base.Facts...)
	h.facts = append(h.facts, recording.Fact{Name: h.plan.Fact, Value: value, Source: "/sys/kernel/mm"})
	for i := range luckFacts {
		h.facts = append(h.facts, recording.Fact{Name: fmt.Sprint("luck.", i), Value: fmt.Sprint(h.random.IntN(2 + i%5)),
			Source: "drawn"})
	}
}

func (h *host) name() string {
	if h.life == 0 {
		return fmt.Sprintf("web-%04d", h.number)
	}
	return fmt.Sprintf("web-%04d-%d", h.number, h.life)
}

// write makes all windows of the host.
func (h *host) write(out string) (windows int, err error) {
	first := h.plan.End.Add(-time.Duration(h.plan.Hours) * time.Hour)
	for at := first; at.Before(h.plan.End); at = at.Add(h.plan.Each) {
		if h.random.Float64() < replacedADay*h.plan.Each.Hours()/24 {
			h.life++
			h.begin()
			h.started = at
		}
		hour := int(at.Sub(first).Hours())
		if err := h.window(out, at.Add(h.skew), hour, windows); err != nil {
			return windows, err
		}
		windows++
	}
	return windows, nil
}

// window writes one minute: a recording and its manifest.
func (h *host) window(out string, at time.Time, hour, sequence int) error {
	load := 150 * (1 + 0.3*math.Sin(2*math.Pi*float64(at.Hour())/24)) * math.Exp(0.05*h.random.NormFloat64())
	requests := int64(load * windowLength.Seconds())
	cost, version, life := h.own+0.01*h.random.NormFloat64(), "1.0", h.started
	if hour >= h.updated {
		cost += math.Log1p(h.plan.Effect)
		version, life = "1.1", h.plan.End.Add(-time.Duration(h.plan.Hours-h.updated)*time.Hour)
	}
	extra := functionShare
	if h.dear {
		extra += h.plan.Ratio - 1
	}
	cpu := int64(requestNs * float64(requests) * math.Exp(cost) * (1 + extra) / (1 + functionShare))
	r := h.recording(at, cpu, extra)
	var file bytes.Buffer
	if err := recording.Encode(&file, r); err != nil {
		return err
	}
	id, size, err := window.ContentID(bytes.NewReader(file.Bytes()))
	if err != nil {
		return err
	}
	latency := int64(float64(cpu) * 1.4)
	w := window.Window{Schema: window.Schema, Content: id, Bytes: size, Kind: window.Light, Host: h.name(),
		Sequence: int64(sequence), Labels: h.labels, Start: at, End: at.Add(windowLength), LengthNs: int64(windowLength),
		Cost: window.Cost{CPUNs: 2e8, MemoryBytes: 80 << 20, BudgetShare: 0.005},
		Services: []window.Service{{Name: service, Version: version, VersionFrom: "label", CPUNs: cpu, Requests: &requests,
			LatencyNs: &latency, Started: life, Process: fmt.Sprint(1000 + life.Unix()%30000),
			Cgroup: "/system.slice/web.service"}}}
	line, err := w.Manifest()
	if err != nil {
		return err
	}
	place := filepath.Join(out, h.name(), fmt.Sprintf("%06d", sequence))
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(place+window.ManifestSuffix, line, 0o644); err != nil {
		return err
	}
	return os.WriteFile(place+window.RecordingSuffix, file.Bytes(), 0o644)
}

// recording is the real one at another time and place: its CPU samples scatter as few samples do,
// and the planted function takes its part of them.
func (h *host) recording(at time.Time, cpu int64, extra float64) *recording.Recording {
	r := *h.base
	r.Manifest.Host, r.Manifest.StartedAt, r.Manifest.WindowNs = h.name(), at, int64(windowLength)
	r.Manifest.Metrics = map[string]float64{recording.MetricCPU: float64(cpu) / 1e9,
		recording.MetricWall: windowLength.Seconds()}
	r.Facts = h.facts
	r.Samples = nil
	sampled, main := int64(0), recording.NoStack
	for _, sample := range h.base.Samples {
		if sample.Signal == recording.SignalCPU && sample.Target && sample.Stack != recording.NoStack {
			sample.ValueNs = int64(float64(sample.ValueNs) * h.random.ExpFloat64())
			sampled, main = sampled+sample.ValueNs, sample.Stack
		}
		r.Samples = append(r.Samples, sample)
	}
	if main == recording.NoStack {
		return &r
	}
	frame, stack := int32(len(r.Frames)), int32(len(r.Stacks))
	r.Frames = append(r.Frames[:frame:frame], recording.Frame{Name: h.plan.Function, Kind: recording.KindNative,
		Module: "web"})
	path := append([]int32{}, h.base.Stacks[main].Frames[:1]...)
	r.Stacks = append(r.Stacks[:stack:stack], recording.Stack{Frames: append(path, frame)})
	r.Samples = append(r.Samples, recording.Sample{Signal: recording.SignalCPU, Stack: stack, Target: true, Count: 1,
		ValueNs: int64(float64(sampled) * extra), Comm: "web"})
	return &r
}
