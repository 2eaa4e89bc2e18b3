package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/recording"
)

// What a program of a millisecond opened, and the program itself, are known when the window has
// ended: by the notes of who installed them.
func TestDependencies(t *testing.T) {
	recorder := standing.get(t)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"table-3.1.0.dist-info/RECORD": "table/a.py,,\n", "table/a.py": "pass\n",
		"node_modules/ms/package.json": `{"name":"ms","version":"2.0.0"}`, "node_modules/ms/index.js": "1\n",
		"ab.py": "1\n", "data.txt": "1\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := watchCommand(t, recorder, "cat", folder+"/table/a.py", folder+"/node_modules/ms/index.js",
		folder+"/ab.py", folder+"/data.txt")
	for _, want := range []recording.Dependency{
		{Kind: recording.DependencyPython, Name: "table", Version: "3.1.0", Place: folder + "/table",
			Evidence: recording.SeenOpened},
		{Kind: recording.DependencyNode, Name: "ms", Version: "2.0.0", Place: folder + "/node_modules/ms",
			Evidence: recording.SeenOpened},
		{Kind: recording.DependencyProgram, Name: "ab.py", Place: folder + "/ab.py", Evidence: recording.SeenOpened},
	} {
		if found := dependencyAt(got, want.Place); found == nil || found.Kind != want.Kind || found.Name != want.Name ||
			found.Version != want.Version || found.Evidence != want.Evidence {
			t.Errorf("%+v, want %+v", found, want)
		}
	}
	if found := dependencyAt(got, folder+"/data.txt"); found != nil {
		t.Errorf("a file of data is no code: %+v", found)
	}
	libc := false
	for _, row := range got.Dependencies {
		libc = libc || strings.Contains(filepath.Base(row.Place), "libc.so") && row.Hash != ""
	}
	if !libc || dependencyAt(got, realPath(t, "/bin/cat")) == nil {
		t.Errorf("the program or its C library is missing: %+v", got.Dependencies)
	}
	got.lossless(t, "dependencies")
	again := watchCommand(t, recorder, "cat", folder+"/table/a.py")
	if dependencyAt(again, folder+"/table") == nil || dependencyAt(again, folder+"/node_modules/ms") != nil {
		t.Errorf("each window tells its own files: %+v", again.Dependencies)
	}
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	found, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func dependencyAt(s seen, place string) *recording.Dependency {
	for i := range s.Dependencies {
		if s.Dependencies[i].Place == place {
			return &s.Dependencies[i]
		}
	}
	return nil
}
