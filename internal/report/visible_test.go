package report

import "testing"

// TestVisiblePath: what is left out of a long path is told, and the program's own function that
// calls a library is not.
func TestVisiblePath(t *testing.T) {
	for _, test := range []struct{ path, want string }{
		{"main;loop;write", "main › loop › write"},
		{"main;serve;handle;encode;flush;write_all;write", "… › encode › flush › write_all › write"},
		{"main.main;main.(*Shop).near;sql.Query;sql.step;sql.read;pread64",
			"… › main.(*Shop).near › … › pread64"},
		{"main;shop::main;shop::<impl Load for shop::Entry>::load;json::from_reader;json::parse;read",
			"… › shop::main › … › json::parse › read"},
		{"main.main;database/sql.(*Rows).Next;driver.Next;read", "main.main › … › driver.Next › read"},
		{"main.main;main.load;driver.a_name_of_thirty_characters", "… › main.load › driver.a_name_of_thirty_characters"},
	} {
		if got := visiblePath(test.path, 40); got != test.want {
			t.Errorf("%s: %q, want %q", test.path, got, test.want)
		}
	}
}
