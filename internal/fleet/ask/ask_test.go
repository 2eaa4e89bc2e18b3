package ask

import "testing"

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
