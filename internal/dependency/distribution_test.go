package dependency

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A file is of no package when it is younger than their database; one that was installed with it is
// asked for, and so is one that is not there.
func TestBornAfterTheDatabase(t *testing.T) {
	root := plant(t, map[string]string{"/usr/bin/made": "x"})
	file, err := root.below("/usr/bin/made", unix.O_PATH)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var status unix.Statx_t
	err = unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &status)
	if err != nil || status.Mask&unix.STATX_BTIME == 0 {
		t.Skip("this file system does not tell when a file was born")
	}
	for _, one := range []struct {
		name  string
		since time.Duration // the database was changed
		after bool
	}{
		{"/usr/bin/made", 2 * installs, true}, {"/usr/bin/made", installs / 2, false},
		{"/usr/bin/made", -time.Hour, false}, {"/usr/bin/none", 2 * installs, false},
	} {
		changed := unix.NsecToTimespec(time.Now().Add(-one.since).UnixNano())
		if got := bornAfter(root, one.name, changed); got != one.after {
			t.Errorf("%s, %v after the database: %v", one.name, one.since, got)
		}
	}
}
