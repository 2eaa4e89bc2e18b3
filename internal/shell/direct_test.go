package shell

import "testing"

// One program takes the shell's place; what is more than one, or the shell's own, does not.
func TestDirect(t *testing.T) {
	for text, want := range map[string]string{
		"/bin/sh -c 'a; b'":      "exec /bin/sh -c 'a; b'",
		"A=1 B='x y' env c":      "",
		"A=1 B='x y' sleep $A":   "A=1 B='x y' exec sleep $A",
		" sleep 1 ":              " exec sleep 1 ",
		"sleep 1 >/dev/null":     "",
		"sleep 1; sleep 2":       "",
		"sleep 1 | cat":          "",
		"sleep 1 && sleep 2":     "",
		"sleep 1 &":              "",
		"(sleep 1)":              "",
		"! sleep 1":              "",
		"echo a":                 "",
		"/nowhere/program 1":     "exec /nowhere/program 1",
		"/bin/echo a":            "exec /bin/echo a",
		": a":                    "",
		". ./settings":           "",
		"$PROGRAM 1":             "",
		"nice -n 5 sleep 1":      "",
		"exec sleep 1":           "",
		"if true; then true; fi": "",
		"":                       "",
	} {
		if got := Direct(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
