package format

import (
	"io"
	"strconv"

	"culprit/recording"
)

// firefoxVersion is that of the processed profile format, which later versions of the profiler
// upgrade
// (https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md).
const firefoxVersion = 60

// firefoxFile is a profile of profiler.firefox.com: tables that all threads share, and a thread
// each.
type firefoxFile struct {
	Meta    firefoxMeta     `json:"meta"`
	Libs    []firefoxLib    `json:"libs"`
	Shared  firefoxShared   `json:"shared"`
	Threads []firefoxThread `json:"threads"`
}

type firefoxMeta struct {
	Interval     float64           `json:"interval"` // ms
	StartTime    float64           `json:"startTime"`
	ProcessType  int               `json:"processType"`
	Product      string            `json:"product"`
	ImportedFrom string            `json:"importedFrom"`
	Stackwalk    int               `json:"stackwalk"`
	Version      int               `json:"version"`
	Processed    int               `json:"preprocessedProfileVersion"`
	Symbolicated bool              `json:"symbolicated"`
	Symbols      bool              `json:"symbolicationNotSupported"`
	Searchfox    bool              `json:"sourceCodeIsNotOnSearchfox"`
	Arguments    string            `json:"arguments,omitempty"`
	Categories   []firefoxCategory `json:"categories"`
	MarkerSchema []firefoxSchema   `json:"markerSchema"`
}

type firefoxCategory struct {
	Name          string   `json:"name"`
	Color         string   `json:"color"`
	Subcategories []string `json:"subcategories"`
}

type firefoxSchema struct {
	Name        string         `json:"name"`
	Display     []string       `json:"display"`
	Description string         `json:"description"`
	Fields      []firefoxField `json:"fields"`
}

type firefoxField struct {
	Key    string `json:"key"`
	Label  string `json:"label"`
	Format string `json:"format"`
}

type firefoxLib struct {
	Arch       string `json:"arch"`
	Name       string `json:"name"`
	Path       string `json:"path"`
	DebugName  string `json:"debugName"`
	DebugPath  string `json:"debugPath"`
	BreakpadID string `json:"breakpadId"`
	CodeID     string `json:"codeId"`
}

type firefoxThread struct {
	ProcessType         string         `json:"processType"`
	ProcessName         string         `json:"processName"`
	ProcessStartupTime  float64        `json:"processStartupTime"`
	ProcessShutdownTime *float64       `json:"processShutdownTime"`
	RegisterTime        float64        `json:"registerTime"`
	UnregisterTime      *float64       `json:"unregisterTime"`
	PausedRanges        []int          `json:"pausedRanges"`
	Name                string         `json:"name"`
	IsMainThread        bool           `json:"isMainThread"`
	Pid                 string         `json:"pid"`
	Tid                 string         `json:"tid"`
	Samples             firefoxSamples `json:"samples"`
	Markers             firefoxMarkers `json:"markers"`
}

type firefoxSamples struct {
	Length     int       `json:"length"`
	Stack      []*int    `json:"stack"`
	Time       []float64 `json:"time"`
	Weight     []float64 `json:"weight"`
	WeightType string    `json:"weightType"`
}

type firefoxMarkers struct {
	Length    int             `json:"length"`
	Data      []firefoxMarker `json:"data"`
	Name      []int           `json:"name"`
	StartTime []float64       `json:"startTime"`
	EndTime   []float64       `json:"endTime"`
	Phase     []int           `json:"phase"`
	Category  []int           `json:"category"`
}

// firefoxMarker is what is told of one wait.
type firefoxMarker struct {
	Type  string        `json:"type"`
	State string        `json:"state"`
	Waker string        `json:"waker"`
	Queue float64       `json:"queue"` // ms
	Cause *firefoxCause `json:"cause,omitempty"`
}

type firefoxCause struct {
	Stack int `json:"stack"`
}

const (
	firefoxWait     = "Wait"
	firefoxInterval = 1 // the phase of a marker with a start and an end
)

// writeFirefox writes the signal's samples of each thread, and its waits as markers.
func writeFirefox(w io.Writer, rec *recording.Recording, signal string, amounts []amount) error {
	tables := newFirefoxTables(rec)
	file := firefoxFile{Libs: []firefoxLib{}, Threads: []firefoxThread{}}
	timed := areTimed(amounts)
	for _, line := range threadLines(rec, amounts) {
		file.Threads = append(file.Threads, tables.thread(line, signal, timed))
	}
	file.Libs, file.Shared = tables.libs, tables.shared
	file.Meta = firefoxAbout(rec)
	return encodeJSON(w, "firefox", file)
}

func firefoxAbout(rec *recording.Recording) firefoxMeta {
	m := &rec.Manifest
	product := plain(m.Target.Command)
	if m.Target.Command == "" {
		product = processName(rec, 0)
	}
	meta := firefoxMeta{Interval: 1, Product: product, ImportedFrom: plain(m.Program), Stackwalk: 1,
		Version: 24, Processed: firefoxVersion, Symbolicated: true, Symbols: true, Searchfox: true,
		Categories: firefoxCategories,
		MarkerSchema: []firefoxSchema{{Name: firefoxWait, Description: "a stay off the CPU",
			Display: []string{"marker-chart", "marker-table", "timeline-overview"},
			Fields: []firefoxField{{"state", "State", "string"},
				{"waker", "Woken by", "string"}, {"queue", "Waited for a CPU", "duration"}}}}}
	if m.Hz > 0 {
		meta.Interval = 1000 / float64(m.Hz)
	}
	if !m.StartedAt.IsZero() {
		meta.StartTime = float64(m.StartedAt.UnixMicro()) / 1000
	}
	return meta
}

// thread makes the samples and markers of one thread.
func (t *firefoxTables) thread(line threadLine, signal string, timed bool) firefoxThread {
	made := firefoxThread{ProcessType: "default", ProcessName: processName(t.rec, line.pid),
		PausedRanges: []int{}, Name: commName(line.comm), IsMainThread: line.pid == line.tid,
		Pid: strconv.Itoa(int(line.pid)), Tid: strconv.Itoa(int(line.tid)),
		Samples: firefoxSamples{Stack: []*int{}, Time: []float64{}, Weight: []float64{}, WeightType: "samples"},
		Markers: firefoxMarkers{Data: []firefoxMarker{}, Name: []int{}, StartTime: []float64{}, EndTime: []float64{},
			Phase: []int{}, Category: []int{}}}
	if timed {
		made.Samples.WeightType = "tracing-ms"
	}
	for _, one := range line.amounts {
		weight := float64(one.count)
		if timed {
			weight = float64(one.ns) / 1e6
		}
		s := &made.Samples
		s.Stack, s.Time = append(s.Stack, t.stackOf(one.stack)), append(s.Time, float64(one.timeNs)/1e6)
		s.Weight = append(s.Weight, weight)
		s.Length++
	}
	for _, number := range line.waits {
		t.marker(&made.Markers, &t.rec.Waits[number])
	}
	return made
}

func (t *firefoxTables) marker(m *firefoxMarkers, wait *recording.Wait) {
	data := firefoxMarker{Type: firefoxWait, State: plain(wait.State), Waker: wait.WakerKind,
		Queue: float64(wait.RunqueueNs) / 1e6}
	if wait.WakerComm != "" {
		data.Waker = plain(wait.WakerComm)
	}
	if stack := t.stackOf(wait.Stack); stack != nil {
		data.Cause = &firefoxCause{Stack: *stack}
	}
	m.Data, m.Name = append(m.Data, data), append(m.Name, t.text(waitName(wait)))
	m.StartTime = append(m.StartTime, float64(wait.TimeNs)/1e6)
	m.EndTime = append(m.EndTime, float64(wait.TimeNs+waitNs(wait))/1e6)
	m.Phase, m.Category = append(m.Phase, firefoxInterval), append(m.Category, 0)
	m.Length++
}
