package dependency

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"culprit/recording"
)

// plant makes a tree of files below a temporary root: path → content, "→ target" for a link.
func plant(t *testing.T, files map[string]string) *Root {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(content, "→ "); link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(root.Close)
	return root
}

// opened are files that a target opened; those that are not planted are made.
func opened(root *Root, names ...string) (files []File) {
	for _, name := range names {
		if !root.Has(name) && !strings.Contains(name, ".zip/") {
			path := filepath.Join(root.folder.Name(), name)
			_ = os.MkdirAll(filepath.Dir(path), 0o755) // what fails is missed in the rows
			_ = os.WriteFile(path, []byte("x"), 0o644)
		}
		files = append(files, File{Path: name, Root: root, How: recording.SeenOpened})
	}
	return files
}

// read gives the rows of a target that opened files, but for the kernel's.
func read(t *testing.T, root *Root, names ...string) []recording.Dependency {
	t.Helper()
	rows, losses := NewReader().Read(Seen{Files: opened(root, names...), Roots: []*Root{root}})
	if len(losses) > 0 {
		t.Errorf("lost: %v", losses)
	}
	return without(rows, recording.DependencyKernel)
}

func without(rows []recording.Dependency, kind string) (left []recording.Dependency) {
	for _, row := range rows {
		if row.Kind != kind {
			left = append(left, row)
		}
	}
	return left
}

// want compares rows, each as "kind name version place evidence".
func want(t *testing.T, rows []recording.Dependency, lines ...string) {
	t.Helper()
	var got []string
	for _, row := range rows {
		got = append(got, strings.Join([]string{row.Kind, row.Name, row.Version, row.Place, row.Evidence}, " "))
	}
	if strings.Join(got, "\n") != strings.Join(lines, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

const folder = "/app/lib/python3.11/site-packages"

func TestPythonByRecord(t *testing.T) {
	root := plant(t, map[string]string{
		folder + "/Jinja2-3.0.3.dist-info/RECORD": "jinja2/__init__.py,sha256=x,1\njinja2/lexer.py,,\n" +
			`"jinja2/odd,name.py",,` + "\n",
		folder + "/google_auth-2.1.dist-info/RECORD":    "google/auth/a.py,,\n",
		folder + "/google_storage-1.5.dist-info/RECORD": "google/storage/b.py,,\n",
		folder + "/PyYAML-6.0.dist-info/RECORD":         "yaml/__init__.py,,\n",
		folder + "/PyYAML-6.0.dist-info/direct_url.json": `{"url": "https://example.org/y.git", "vcs_info": ` +
			`{"vcs": "git", "commit_id": "0123456789abcdef0123"}}`,
		folder + "/unused-9.dist-info/RECORD": "unused.py,,\n",
		folder + "/jinja2/lexer.py":           "x",
		"/app/main.py":                        "print()",
	})
	rows := read(t, root, folder+"/jinja2/__pycache__/lexer.cpython-311.pyc", folder+"/jinja2/lexer.py",
		folder+"/jinja2/odd,name.py", folder+"/google/auth/a.py", folder+"/google/storage/b.py", folder+"/yaml/__init__.py",
		"/app/main.py")
	want(t, rows,
		"program main.py  /app/main.py opened",
		"python google-auth 2.1 "+folder+" installed", "python google-auth 2.1 "+folder+"/google/auth opened",
		"python google-storage 1.5 "+folder+" installed", "python google-storage 1.5 "+folder+"/google/storage opened",
		"python jinja2 3.0.3 "+folder+" installed", "python jinja2 3.0.3 "+folder+"/jinja2 opened",
		"python pyyaml 6.0 "+folder+" installed", "python pyyaml 6.0 (0123456789ab) "+folder+"/yaml opened",
		"python unused 9 "+folder+" installed")
}

// A folder of `pip install --target` is called as its owner likes; the system's packages come
// without a RECORD.
func TestPythonElsewhere(t *testing.T) {
	root := plant(t, map[string]string{
		"/srv/libs/table-3.1.0.dist-info/RECORD":                     "table/a.py,,\n",
		"/srv/libs/table/a.py":                                       "x",
		"/usr/lib/python3/dist-packages/six-1.16.egg-info/PKG":       "x",
		"/usr/lib/python3/dist-packages/ya-6.egg-info/top_level.txt": "yaml\n_yaml\n",
	})
	rows := read(t, root, "/srv/libs/table/a.py", "/usr/lib/python3/dist-packages/yaml/b.py",
		"/usr/lib/python3/dist-packages/six.py")
	want(t, rows,
		"python six 1.16 /usr/lib/python3/dist-packages installed",
		"python six 1.16 /usr/lib/python3/dist-packages/six.py opened",
		"python table 3.1.0 /srv/libs installed", "python table 3.1.0 /srv/libs/table opened",
		"python ya 6 /usr/lib/python3/dist-packages installed",
		"python ya 6 /usr/lib/python3/dist-packages/yaml opened")
}

func TestNode(t *testing.T) {
	const modules = "/app/node_modules"
	root := plant(t, map[string]string{
		modules + "/semver/package.json":                      `{"name":"semver","version":"7.5.4"}`,
		modules + "/semver/dist/package.json":                 `{"type":"module"}`,
		modules + "/@scope/kit/package.json":                  `{"version":"1.0.0"}`,
		modules + "/semver/node_modules/yallist/package.json": `{"name":"yallist","version":"4.0.0"}`,
		modules + "/broken/package.json":                      `{"name":`,
		"/w/.yarn/cache/ms-npm-2.1.3-81ff3cfac1-aa92345.zip":  "PK",
		"/app/package.json":                                   `{"name":"shop","version":"0.1.0"}`,
		"/app/server.js":                                      "x", modules + "/broken/index.js": "x",
	})
	rows, losses := NewReader().Read(Seen{Files: opened(root, modules+"/semver/dist/index.mjs",
		modules+"/@scope/kit/a.js", modules+"/semver/node_modules/yallist/y.js", "/app/server.js",
		modules+"/broken/index.js", "/w/.yarn/cache/ms-npm-2.1.3-81ff3cfac1-aa92345.zip/node_modules/ms/index.js")})
	want(t, without(rows, recording.DependencyKernel),
		"npm @scope/kit 1.0.0 "+modules+"/@scope/kit opened",
		"npm ms 2.1.3 /w/.yarn/cache/ms-npm-2.1.3-81ff3cfac1-aa92345.zip/node_modules/ms opened",
		"npm semver 7.5.4 "+modules+"/semver opened", "npm shop 0.1.0 /app opened",
		"npm yallist 4.0.0 "+modules+"/semver/node_modules/yallist opened",
		"program index.js  "+modules+"/broken/index.js opened", "program server.js  /app/server.js opened")
	if len(losses) != 1 || losses[0].Count != 1 {
		t.Errorf("one package.json is damaged; lost: %v", losses)
	}
}

func TestRubyAndPHP(t *testing.T) {
	root := plant(t, map[string]string{
		"/g/gems/rack-2.2.8/lib/rack.rb": "x", "/g/bundler/gems/kit-0123456789ab/lib/kit.rb": "x",
		"/s/vendor/composer/installed.json": `{"packages":[{"name":"acme/table","version":"1.5.0",` +
			`"install-path":"../acme/table"},{"name":"acme/dev","version":"dev-main","install-path":"../acme/dev",` +
			`"source":{"reference":"fedcba9876543210"}}]}`,
		"/o/vendor/composer/installed.json": `[{"name":"old/one","version":"v0.9"}]`,
		"/s/app.php":                        "<?php", "/s/vendor/acme/table/src/T.php": "x",
	})
	rows := read(t, root, "/g/gems/rack-2.2.8/lib/rack.rb", "/g/bundler/gems/kit-0123456789ab/lib/kit.rb",
		"/s/vendor/acme/table/src/T.php", "/s/vendor/acme/dev/D.php", "/o/vendor/old/one/x.php", "/s/app.php")
	want(t, rows,
		"composer acme/dev dev-main (fedcba987654) /s/vendor/acme/dev opened",
		"composer acme/table 1.5.0 /s/vendor/acme/table opened",
		"composer old/one v0.9 /o/vendor/old/one opened",
		"gem kit 0123456789ab /g/bundler/gems/kit-0123456789ab opened", "gem rack 2.2.8 /g/gems/rack-2.2.8 opened",
		"program app.php  /s/app.php opened")
}

func TestPackagesOfTheSystem(t *testing.T) {
	root := plant(t, map[string]string{
		debianInfo + "/zlib1g:amd64.list": "/.\n/lib/x86_64-linux-gnu/libz.so.1.2.13\n",
		debianInfo + "/perl-base.list":    "/usr/share/perl5/strict.pm\n",
		debianStatus: "Package: other\nVersion: 9\n\nPackage: zlib1g\nStatus: x\nVersion: 1:1.2.13-1\n\n" +
			"Package: perl-base\nVersion: 5.36\n",
		"/usr/lib/x86_64-linux-gnu/libz.so.1.2.13": string(object(t, nil)),
		"/usr/share/perl5/strict.pm":               "x", "/etc/os-release": "ID=debian\nVERSION_ID=\"12\"\n",
		"/etc/debian_version": "12.11\n",
	})
	want(t, read(t, root, "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", "/usr/share/perl5/strict.pm"),
		"deb perl-base 5.36 /usr/share/perl5 opened",
		"deb zlib1g 1:1.2.13-1 /usr/lib/x86_64-linux-gnu/libz.so.1.2.13 opened", "image debian 12.11 / host")

	root = plant(t, map[string]string{
		alpineAll:                  "C:x\nP:musl\nV:1.2.4-r2\nF:lib\nR:ld-musl-x86_64.so.1\n\nP:zlib\nV:1.3-r0\n",
		"/lib/ld-musl-x86_64.so.1": string(object(t, nil)),
	})
	want(t, read(t, root, "/lib/ld-musl-x86_64.so.1"), "apk musl 1.2.4-r2 /lib/ld-musl-x86_64.so.1 opened")

	packed, err := os.Open("rpm/testdata/rpmdb.sqlite.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	database, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	root = plant(t, map[string]string{"/usr/lib/sysimage/rpm/rpmdb.sqlite": string(database),
		"/lib64/libshapes.so.1.2": string(object(t, nil)), "/usr/lib64/libnobodys.so.1": string(object(t, nil)),
	})
	want(t, read(t, root, "/lib64/libshapes.so.1.2", "/usr/lib64/libnobodys.so.1"),
		"library libnobodys.so 1 /usr/lib64/libnobodys.so.1 opened", "rpm shapes 1:1.2-3 /lib64/libshapes.so.1.2 opened")
}

func TestOwnScriptsByContent(t *testing.T) {
	hash := func(content string) string {
		rows := read(t, plant(t, map[string]string{"/app/main.rb": content}), "/app/main.rb")
		if len(rows) != 1 {
			t.Fatalf("%+v", rows)
		}
		return rows[0].Hash
	}
	if one, other := hash("a"), hash("b"); one == other || !strings.HasPrefix(one, "sha256:") || one != hash("a") {
		t.Errorf("%q and %q", one, other)
	}
}

// What lies outside of the root is never read, whatever links say, and nothing that is no file is
// opened.
func TestStaysBelowTheRoot(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "package.json")
	if err := os.WriteFile(outside, []byte(`{"name":"secret","version":"1"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	root := plant(t, map[string]string{
		"/a/node_modules/x/package.json": "→ " + outside, "/a/node_modules/x/i.js": "x",
		"/a/node_modules/y/package.json": "→ ../../../../../../../../../.." + outside, "/a/node_modules/y/i.js": "x",
		"/a/node_modules/z/package.json": "→ package.json", "/a/node_modules/z/i.js": "x",
	})
	if err := syscall.Mkfifo(filepath.Join(root.folder.Name(), "a/node_modules/pipe.js"), 0o644); err != nil {
		t.Fatal(err)
	}
	pipe := File{Path: "/a/node_modules/pipe.js", Root: root, How: recording.SeenOpened}
	rows, losses := NewReader().Read(Seen{Files: append(opened(root, "/a/node_modules/x/i.js",
		"/a/node_modules/y/i.js", "/a/node_modules/z/i.js"), pipe)})
	if len(losses) != 1 || losses[0].Count != 1 {
		t.Errorf("the pipe is no file; lost: %v", losses)
	}
	for _, row := range rows {
		if row.Kind == recording.DependencyNode || row.Name == "secret" {
			t.Errorf("%+v", row)
		}
	}
}

// Frames alone tell as well, of what was opened before the recording; what they go through ran.
func TestFramesTell(t *testing.T) {
	root := plant(t, map[string]string{
		"/p/node_modules/ms/package.json": `{"name":"ms","version":"2.0.0"}`, "/p/node_modules/ms/index.js": "x",
	})
	frames := []recording.Frame{
		{Kind: recording.KindNode, Name: "parse", File: "/p/node_modules/ms/index.js"},
		{Kind: recording.KindNative, Name: "semver::parse", Module: "bench",
			File: "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/semver-1.0.4/src/parse.rs"},
	}
	rows, _ := NewReader().Read(Seen{Frames: frames, Roots: []*Root{root}})
	want(t, without(rows, recording.DependencyKernel), "crate semver 1.0.4  ran", "npm ms 2.0.0 /p/node_modules/ms ran")
}

func TestLimits(t *testing.T) {
	root := plant(t, map[string]string{"/a.py": "x"})
	allowed := newAllowance()
	allowed.bytes = 10
	if text := allowed.read(root, "/a.py", 100); text != "x" || allowed.bytes != 9 {
		t.Errorf("%q, %d left", text, allowed.bytes)
	}
	if allowed.take(10) == nil || allowed.refused != 1 {
		t.Error("more was taken than allowed")
	}
}
