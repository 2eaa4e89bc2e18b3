package format

import (
	"io"
	"slices"
	"strconv"

	"culprit/recording"
)

// The document of https://www.speedscope.app/file-format-schema.json.
type speedscopeFile struct {
	Schema   string              `json:"$schema"`
	Shared   speedscopeShared    `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
	Name     string              `json:"name"`
	Active   int                 `json:"activeProfileIndex"`
	Exporter string              `json:"exporter"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int32  `json:"line,omitempty"`
}

// speedscopeProfile is one thread; its samples follow each other in time.
type speedscopeProfile struct {
	Type    string    `json:"type"`
	Name    string    `json:"name"`
	Unit    string    `json:"unit"`
	Start   int64     `json:"startValue"`
	End     int64     `json:"endValue"`
	Samples [][]int32 `json:"samples"`
	Weights []int64   `json:"weights"`
}

const speedscopeSchema = "https://www.speedscope.app/file-format-schema.json"

// writeSpeedscope writes one profile per thread, the busiest first.
func writeSpeedscope(w io.Writer, rec *recording.Recording, signal string, amounts []amount) error {
	file := speedscopeFile{Schema: speedscopeSchema, Name: plain(rec.Manifest.Target.Command + " " + signal),
		Exporter: plain(rec.Manifest.Program)}
	file.Shared.Frames = make([]speedscopeFrame, 0, len(rec.Frames)+1)
	for _, frame := range rec.Frames {
		file.Shared.Frames = append(file.Shared.Frames,
			speedscopeFrame{Name: plain(frame.Name), File: frame.File, Line: max(0, frame.Line)})
	}
	unknown := []int32{int32(len(rec.Frames))}
	file.Shared.Frames = append(file.Shared.Frames, speedscopeFrame{Name: "[unknown]"})
	amounts = slices.Clone(amounts)
	slices.SortStableFunc(amounts, byTime)
	timed := areTimed(amounts)
	var last amount
	for i, one := range amounts {
		if i == 0 || one.pid != last.pid || one.tid != last.tid || one.comm != last.comm {
			file.Profiles = append(file.Profiles, speedscopeProfile{Type: "sampled", Name: threadName(one), Unit: "none"})
			if timed {
				file.Profiles[len(file.Profiles)-1].Unit = "nanoseconds"
			}
			last = one
		}
		profile := &file.Profiles[len(file.Profiles)-1]
		weight := one.count
		if timed {
			weight = one.ns
		}
		stack := framesOf(rec, one.stack)
		if len(stack) == 0 {
			stack = unknown
		}
		profile.Samples, profile.Weights = append(profile.Samples, stack), append(profile.Weights, weight)
		profile.End = addAmounts(profile.End, weight)
	}
	slices.SortStableFunc(file.Profiles, func(a, b speedscopeProfile) int { return int(max(-1, min(1, b.End-a.End))) })
	return encodeJSON(w, "speedscope", file)
}

func threadName(one amount) string {
	name := commName(one.comm)
	if one.tid > 0 {
		name += " " + strconv.Itoa(int(one.tid))
	}
	return name
}
