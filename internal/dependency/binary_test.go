package dependency

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	order "encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"culprit/recording"
)

// object makes a 64-bit ELF file of sections: name → content.
func object(t testing.TB, sections map[string]string) []byte {
	t.Helper()
	names := []string{""}
	for name := range sections {
		names = append(names, name)
	}
	slices.Sort(names)
	names = append(names, ".shstrtab")
	var content, table, strings bytes.Buffer
	const head = 64
	for _, name := range names {
		kind, text := elf.SHT_PROGBITS, sections[name]
		if name == "" {
			kind = elf.SHT_NULL
		}
		at := strings.Len()
		strings.WriteString(name + "\x00")
		if name == ".shstrtab" {
			kind, text = elf.SHT_STRTAB, strings.String()
		}
		write(t, &table, elf.Section64{Name: uint32(at), Type: uint32(kind), Off: uint64(head + content.Len()),
			Size: uint64(len(text)), Addralign: 1})
		content.WriteString(text)
	}
	var file bytes.Buffer
	write(t, &file, elf.Header64{Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', 2, 1, 1},
		Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: uint64(head + content.Len()),
		Ehsize: head, Phentsize: 56, Shentsize: 64, Shnum: uint16(len(names)), Shstrndx: uint16(len(names) - 1)})
	file.Write(content.Bytes())
	file.Write(table.Bytes())
	return file.Bytes()
}

func write(t testing.TB, to *bytes.Buffer, value any) {
	if err := order.Write(to, order.LittleEndian, value); err != nil {
		t.Fatal(err)
	}
}

func packed(t testing.TB, text string) string {
	var out bytes.Buffer
	writer := zlib.NewWriter(&out)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const panics = "called `unwrap`\x00" +
	"/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/semver-1.0.4/src/parse.rs" +
	"/home/u/.cargo/registry/src/github.com-1ecc6299db9ec823/serde_json-1.0.0-rc.1+x/src/de.rs\x00"

func TestCrates(t *testing.T) {
	root := plant(t, map[string]string{
		"/b/stripped": string(object(t, map[string]string{".comment": "GCC: 12\x00rustc version 1.70.0 (90c541806)\x00",
			".rodata": panics})),
		"/b/audited": string(object(t, map[string]string{".comment": "rustc version 1.70.0 (90c541806)\x00",
			".rodata": panics, ".dep-v0": packed(t, `{"packages":[{"name":"bench","version":"0.1.0","root":true},`+
				`{"name":"itoa","version":"1.0.9"},{"name":"cc","version":"1","kind":"build"}]}`)})),
		"/b/in-c": string(object(t, map[string]string{".comment": "GCC: 12\x00", ".rodata": panics})),
	})
	want(t, read(t, root, "/b/stripped"),
		"crate semver 1.0.4 /b/stripped built-in", "crate serde_json 1.0.0-rc.1+x /b/stripped built-in",
		"program stripped  /b/stripped opened", "runtime rustc 1.70.0 (90c541806) /b/stripped built-in")
	want(t, read(t, root, "/b/audited"),
		"crate bench 0.1.0 /b/audited built-in", "crate itoa 1.0.9 /b/audited built-in",
		"program audited  /b/audited opened", "runtime rustc 1.70.0 (90c541806) /b/audited built-in")
	want(t, read(t, root, "/b/in-c"), "program in-c  /b/in-c opened")
}

func TestRunTimes(t *testing.T) {
	root := plant(t, map[string]string{
		"/p/libruby-3.1.so.3.1.7": string(object(t, map[string]string{".rodata": "\x00ruby 3.1.7p261 (2025-03-26 x)\x00"})),
		"/p/php8.2":               string(object(t, map[string]string{".rodata": "X\x00PHP/8.2.36\x00"})),
		"/p/libc.so.6": string(object(t, map[string]string{
			".rodata": "GNU C Library (Debian) stable release version 2.36.\n"})),
		"/p/bin/node": string(object(t, nil)),
		"/p/include/node/node_version.h": "#define NODE_MAJOR_VERSION 20\n#define NODE_MINOR_VERSION 1\n" +
			"#define NODE_PATCH_VERSION 2\n",
		"/j/lib/server/libjvm.so": string(object(t, nil)),
		"/j/release": "IMPLEMENTOR=\"Eclipse\"\nJAVA_VERSION=\"17.0.1\"\n" +
			"JAVA_RUNTIME_VERSION=\"17.0.1+12\"\n",
		"/v/bin/python3.9":                   string(object(t, nil)),
		"/v/include/python3.9/patchlevel.h":  "#define PY_VERSION              \"3.9.18\"\n",
		"/v/lib/python3.9/json/decoder.py":   "x",
		"/v/lib/python3.9/lib-dynload/_b.so": string(object(t, nil)),
	})
	want(t, read(t, root, "/p/libruby-3.1.so.3.1.7", "/p/php8.2", "/p/libc.so.6", "/p/bin/node",
		"/j/lib/server/libjvm.so", "/v/bin/python3.9", "/v/lib/python3.9/json/decoder.py",
		"/v/lib/python3.9/lib-dynload/_b.so"),
		"runtime glibc 2.36 /p/libc.so.6 opened", "runtime java 17.0.1+12 (Eclipse) /j/lib/server/libjvm.so opened",
		"runtime node 20.1.2 /p/bin/node opened", "runtime php 8.2.36 /p/php8.2 opened",
		"runtime python 3.9.18 /v/bin/python3.9 opened", "runtime python modules 3.9 /v/lib/python3.9 opened",
		"runtime python modules 3.9 /v/lib/python3.9/lib-dynload/_b.so opened",
		"runtime ruby 3.1.7p261 /p/libruby-3.1.so.3.1.7 opened")
}

// This test's own program is one of Go.
func TestGo(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(executable)
	if err != nil {
		t.Fatal(err)
	}
	root := plant(t, map[string]string{"/bin/app": string(text)})
	found := map[string]string{}
	for _, row := range read(t, root, "/bin/app") {
		found[row.Kind+" "+row.Name] = row.Version
	}
	if found["go culprit"] == "" || !strings.HasPrefix(found["runtime go"], "1.") ||
		found["build-option go GOARCH"] == "" {
		t.Errorf("%v", found)
	}
}

// A file that was read is read again when it has changed.
func TestReadsAgain(t *testing.T) {
	built := func(version string) []byte {
		return object(t, map[string]string{".comment": "rustc version " + version + "\x00"})
	}
	root := plant(t, map[string]string{"/b/app": string(built("1.70.0"))})
	reader := NewReader()
	version := func() string {
		rows, _ := reader.Read(Seen{Files: opened(root, "/b/app")})
		for _, row := range rows {
			if row.Name == "rustc" {
				return row.Version
			}
		}
		return ""
	}
	first := version()
	path := filepath.Join(root.folder.Name(), "b/app")
	if err := os.WriteFile(path, built("1.71.10"), 0o644); err != nil {
		t.Fatal(err)
	}
	if second := version(); first != "1.70.0" || second != "1.71.10" {
		t.Errorf("%q, then %q", first, second)
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(object(f, map[string]string{".comment": "rustc version 1\x00", ".rodata": panics, ".dep-v0": packed(f, `{}`),
		".dynsym": "0123456789abcdef01234567", ".note.go.buildid": "0123456789abcdef01234567"}))
	f.Fuzz(func(t *testing.T, content []byte) {
		root := plant(t, map[string]string{"/libpython3.11.so": string(content)})
		rows, _ := NewReader().Read(Seen{Files: opened(root, "/libpython3.11.so")})
		for _, row := range rows {
			if len(row.Name) > maxText || len(row.Version) > maxText || row.Kind == recording.DependencyJava {
				t.Errorf("%+v", row)
			}
		}
	})
}
