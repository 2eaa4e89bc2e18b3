package compare_test

import (
	"testing"

	"culprit/internal/compare/settings"
	"culprit/recording"
)

// The busiest process of A is a daemon that cleared its environment, that of B the client which
// talks to it.
func TestEnvironmentsOfOtherProgramsAreNoDifference(t *testing.T) {
	side := func(facts ...recording.Fact) []*recording.Recording {
		return []*recording.Recording{small(func(rec *recording.Recording) { rec.Facts = facts })}
	}
	executable := func(path string) recording.Fact { return recording.Fact{Name: "target.executable", Value: path} }
	language := recording.Fact{Name: "target.environment.LANG", Value: "C.UTF-8"}
	files := func(most string) recording.Fact { return recording.Fact{Name: "target.limit.open_files", Value: most} }
	for _, test := range []struct {
		name string
		a, b []*recording.Recording
		want int
	}{
		{"a server and its client", side(executable("/usr/sbin/nginx")), side(executable("/usr/bin/ab"), language), 0},
		{"two releases of one program", side(executable("/srv/1/app")), side(executable("/srv/2/app"), language), 1},
		{"one program", side(executable("/srv/app")), side(executable("/srv/app"), language), 1},
		{"a server that raises its limits and its client", side(executable("/usr/bin/memcached"), files("1024")),
			side(executable("/usr/bin/python3"), files("20000")), 0},
		{"one program with other limits", side(executable("/srv/app"), files("1024")),
			side(executable("/srv/app"), files("20000")), 1},
		{"its file is not known", side(recording.Fact{Name: "target.nice", Value: "0"}),
			side(recording.Fact{Name: "target.nice", Value: "0"}, language), 1},
		{"a server's main process once, and its workers, which have no environment",
			append(side(executable("/usr/sbin/fpm"), language), side(executable("/usr/sbin/fpm"))...),
			append(side(executable("/usr/sbin/fpm")), side(executable("/usr/sbin/fpm"))...), 0},
	} {
		if changes := settings.Changes(test.a, test.b); len(changes) != test.want {
			t.Errorf("%s: %v, want %d changes", test.name, changes, test.want)
		}
	}
}
