package cause

import (
	"strings"
	"testing"

	"culprit/internal/compare/blame"
	"culprit/recording"
)

// An address is no name: that the program has no symbols, and what would name its functions, is
// said with it.
func TestPlaceWithoutAName(t *testing.T) {
	for name, told := range map[string]bool{"zstd+0x50ce0()": true, "ZSTD_compressBlock": false} {
		blamed := &blame.Blame{Stack: []recording.Frame{{Name: name, Kind: recording.KindNative,
			Module: "/usr/bin/zstd"}}}
		c := &claim{cause: CodeAdded}
		(&scene{}).describeCode(c, blamed, nil)
		said := strings.Contains(strings.Join(c.doubtful(), " "), "zstd has no symbols")
		if said != told || c.where()[0] != name {
			t.Errorf("%s: where %q, against %q", name, c.where(), c.doubtful())
		}
	}
}
