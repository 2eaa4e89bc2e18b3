package symbol

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// small returns an ELF file with a .symtab, for other tests to damage.
func small(t testing.TB) []byte {
	t.Helper()
	folder := t.TempDir()
	text, object := filepath.Join(folder, "a.s"), filepath.Join(folder, "a.o")
	assembler := ".text\n.globl f\n.type f,@function\nf: nop\nnop\n.size f,2\n.type g,@function\ng: nop\n"
	if err := os.WriteFile(text, []byte(assembler), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("gcc", "-nostdlib", "-shared", "-o", object, text).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, output)
	}
	content, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestDamagedFilesAreErrorsOrTables(t *testing.T) {
	whole := small(t)
	for length := 0; length < len(whole); length += 7 {
		requireErrorXorTable(t, whole[:length])
	}
	headers := int(binary.LittleEndian.Uint64(whole[0x28:])) // section headers decide what is read
	for at := range whole {
		if at > 64 && at < headers && at%11 != 0 {
			continue
		}
		for _, value := range []byte{0, 0x7F, 0xFF} {
			file := bytes.Clone(whole)
			file[at] = value
			requireErrorXorTable(t, file)
		}
	}
}

func requireErrorXorTable(t *testing.T, file []byte) {
	t.Helper()
	table, err := Load(bytes.NewReader(file), Options{NoDebugFiles: true, Unnamed: true})
	if (table == nil) == (err == nil) {
		t.Errorf("table %v and error %v", table, err)
	}
	if table != nil {
		requireUsable(t, table)
	}
}

// requireUsable looks up around every function of a table.
func requireUsable(t *testing.T, table *Table) {
	t.Helper()
	for i, start := range table.starts {
		for _, address := range []uint64{start - 1, start, start + uint64(table.sizes[i])} {
			if name, offset, ok := table.Lookup(address); ok && (name == "" || offset > address) {
				t.Errorf("Lookup(%#x) = %q + %d", address, name, offset)
			}
		}
		if i > 0 && start <= table.starts[i-1] {
			t.Errorf("functions at %#x and %#x are out of order", table.starts[i-1], start)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(small(f))
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, file []byte) { requireErrorXorTable(t, file) })
}

func FuzzXZ(f *testing.F) {
	for _, flag := range []string{"-0", "-9", "--block-size=8"} {
		command := exec.Command("xz", flag, "-c")
		command.Stdin = strings.NewReader("hello, hello, hello")
		packed, err := command.Output()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		content, err := unpackXZ(packed, 1<<16)
		if len(content) > 1<<16 || err != nil && content != nil {
			t.Errorf("%d bytes and error %v", len(content), err)
		}
	})
}

func FuzzKernel(f *testing.F) {
	f.Add([]byte("ffffffff81000000 T _text\nffffffffc0000000 t f\t[m]\nffffffffc0000010 d data\t[m]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		kernel, err := parseKernel(bytes.NewReader(text))
		if (kernel == nil) == (err == nil) {
			t.Errorf("kernel %v and error %v", kernel, err)
		}
		if kernel != nil {
			requireUsable(t, kernel.table)
		}
	})
}

func FuzzJITMap(f *testing.F) {
	f.Add([]byte("7f00 10 a\n7f08 10 b\n0x7f00 0x4 c d\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, _, err := JITMap(bytes.NewReader(text))
		if (table == nil) == (err == nil) {
			t.Errorf("table %v and error %v", table, err)
		}
		if table != nil {
			requireUsable(t, table)
		}
	})
}
