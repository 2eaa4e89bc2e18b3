package format

import (
	"strings"
	"testing"

	"culprit/recording"
)

// A place in a frame's name is its file and line, not a part of the name; what only looks like one
// stays.
func TestFoldedPlaces(t *testing.T) {
	for text, want := range map[string]recording.Frame{
		"work (app.py:12)":       {Name: "work", File: "app.py", Line: 12, Kind: recording.KindPython},
		"work (/srv/a b/app.py)": {Name: "work", File: "/srv/a b/app.py", Kind: recording.KindPython},
		"<module> (app.py:1)":    {Name: "<module>", File: "app.py", Line: 1, Kind: recording.KindPython},
		"_load (<frozen importlib._bootstrap>:241)": {Name: "_load", File: "<frozen importlib._bootstrap>", Line: 241,
			Kind: recording.KindPython},
		"inflate (libz.so.1.2.13)":           {Name: "inflate", Module: "libz.so.1.2.13", Kind: recording.KindNative},
		"block in run - /srv/app.rb:7":       {Name: "block in run", File: "/srv/app.rb", Line: 7, Kind: recording.KindRuby},
		"/srv/app.py:work:12":                {Name: "work", File: "/srv/app.py", Line: 12, Kind: recording.KindPython},
		"/srv/app.py:<lambda>:3":             {Name: "<lambda>", File: "/srv/app.py", Line: 3, Kind: recording.KindPython},
		"operator()(int)":                    {Name: "operator()(int)", Kind: recording.KindNative},
		"f (anonymous namespace)":            {Name: "f (anonymous namespace)", Kind: recording.KindNative},
		"std::get<(char)58>(x.py:12)":        {Name: "std::get<(char)58>(x.py:12)", Kind: recording.KindNative},
		"thread (0x7F15)":                    {Name: "thread (0x7F15)", Kind: recording.KindNative},
		"a::b::c:12":                         {Name: "a::b::c:12", Kind: recording.KindNative},
		"(app.py:12)":                        {Name: "(app.py:12)", Kind: recording.KindNative},
		"work (app.py:99999999999999999999)": {Name: "work (app.py:99999999999999999999)", Kind: recording.KindNative},
	} {
		if frame := foldedFrame(text, false); frame != want {
			t.Errorf("%q is %+v, want %+v", text, frame, want)
		}
	}
	rec := importText(t, "x", []byte("<module> (a.py:9);work (a.py:1) 3\n<module> (a.py:9);work (a.py:2) 4\n"), Options{})
	if folded := string(export(t, rec, AsFolded, recording.SignalCPU)); folded != "<module>;work 7\n" {
		t.Errorf("two lines of a function are %q", folded)
	}
}

// What is known and not read is told as what it is, compressed or not, and never taken for
// something else.
func TestOtherFormatsAreNamed(t *testing.T) {
	perfetto := strings.Repeat("\x0a\x04\x40\x01\x50\x02", 4)
	for text, want := range map[string]string{
		`{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]}`: "speedscope",
		`{"meta":{"categories":[],"processType":0,"version":24},"threads":[]}`:           "Firefox",
		`{"linux-perf-json-version": 1, "headers": {}}`:                                  "perf data convert",
		`{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"children":[]}}`:    "heap profile",
		`{"traceEvents":[{"args":{"callFrame":{}},"ph":"P","ts":1}]}`:                    "Chrome",
		`[{"name":"a","ph":"X","ts":1,"dur":2}]`:                                         "Chrome",
		"MOJ\x03\x0dmode\x00wall\x00":                                                    "austin",
		"v8-version,11,3,244,8,-node.30,0\n":                                             "log of V8",
		"PERFILE2\x68\x00\x00\x00":                                                       "perf script -i",
		"PK\x03\x04":                                                                     "needs no import",
		"     0.000 ( 0.005 ms): app/7812 read(fd: 3) = 64\n":                            "perf trace",

		"\xff\xfea\x00;\x00b\x00 \x001\x00\n\x00": "iconv -f UTF-16",

		strings.Repeat("\x00", 8) + "\x03" + strings.Repeat("\x00", 15): "pprof -proto",

		"heap profile:    144:  8498176 [   144:  8498176] @ heapprofile\n": "old text form",

		perfetto: "Perfetto",
	} {
		for _, given := range []string{text, zipped(text)} {
			_, err := Import([]Source{{Name: "x", Reader: strings.NewReader(given)}}, Options{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60q: %v, without %q", text, err, want)
			}
		}
	}
}
