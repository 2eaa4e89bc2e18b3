package ask

import (
	"testing"

	"culprit/internal/fleet/store"
)

func TestSelection(t *testing.T) {
	chosen, err := parseSelection("version=1.2,zone!=eu-1a")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		version, zone string
		want          bool
	}{{"1.2", "eu-1b", true}, {"1.2", "", true}, {"1.2", "eu-1a", false}, {"1.3", "eu-1b", false}} {
		if got := chosen.chooses(c.version, map[string]string{"zone": c.zone}); got != c.want {
			t.Errorf("version %s, zone %q: %v", c.version, c.zone, got)
		}
	}
	for _, text := range []string{"version", "=1", "!=1"} {
		if _, err := parseSelection(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// A host's name comes from the host: it must stay one word of the command that is told.
func TestCommandsAreQuoted(t *testing.T) {
	for text, want := range map[string]string{"web-1.example": "web-1.example", "": "''", "-rf": "'-rf'",
		"a b": "'a b'", "x;reboot": "'x;reboot'", "it's": `'it'\''s'`, "$(id)": "'$(id)'"} {
		if got := Quote(text); got != want {
			t.Errorf("%q became %s, want %s", text, got, want)
		}
	}
}

// The command that records a service on its host is one that works there: culprit takes folders of
// cgroups.
func TestRecordThere(t *testing.T) {
	for _, test := range []struct {
		service string
		host    hostWhy
		want    string
	}{
		{"web", hostWhy{name: "h1", cgroup: "/system.slice/web.service"},
			"culprit record -d 30s --cgroup /sys/fs/cgroup/system.slice/web.service -o h1.culprit"},
		{"web", hostWhy{name: "h 1"}, `culprit record -d 30s -p "$(pidof -s web)" -o 'h 1'.culprit`},
		{"$(reboot)", hostWhy{name: "h1"}, `culprit record -d 30s -p "$(pidof -s '$(reboot)')" -o h1.culprit`},
	} {
		if got := recordThere(test.service, test.host); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	want := "culprit compare --service web --a a.culprit 'b c.culprit' --b d.culprit"
	if got := CompareFiles("web", []string{"a.culprit", "b c.culprit"}, []string{"d.culprit"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Who chose none of the hosts is told what there is to choose.
func TestNoneChosen(t *testing.T) {
	uses := []store.Use{{Version: "1", Labels: map[string]string{"zone": "b"}},
		{Version: "2", Labels: map[string]string{"zone": "a"}}}
	for text, want := range map[string]string{
		"zone=c":             "no host of web has zone=c; zone is a, b",
		"zone!=a,version!=1": "no host of web has zone!=a and version!=1; zone is a, b, version is 1, 2",
		"rack=1":             "no host of web has rack=1; none has a rack",
	} {
		chosen, err := parseSelection(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := chosen.noneOf("web", uses).Error(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
