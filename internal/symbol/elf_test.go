package symbol

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const source = `
#include <unistd.h>
static __attribute__((noinline)) int hidden(int x) { __asm__ volatile(""); return x * 3; }
__attribute__((noinline)) int visible(int x) { return hidden(x) + 1; }
extern int alias_of_visible(int) __attribute__((alias("visible")));
extern int __visible(int) __attribute__((alias("visible")));
static int chosen(void) { return 7; }
static int (*resolve(void))(void) { return chosen; }
int indirect(void) __attribute__((ifunc("resolve")));
__asm__(".text\n.type sizeless,@function\nsizeless: nop\nnop\nnop\nnop\n"
        ".type after,@function\nafter: nop\n.size after, 1\n.skip 16\n");
int main(int argc, char **argv) { return write(2, argv[0], 0) + visible(argc) + indirect(); }
`

// program builds the source above and returns its path.
func program(t *testing.T, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "program.c")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "program")
	run(t, "gcc", append([]string{"-O1", "-Wl,--build-id", "-o", path, file}, flags...)...)
	return path
}

func run(t testing.TB, name string, arguments ...string) {
	t.Helper()
	if output, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, output)
	}
}

// addresses returns where the functions of a file are, as another reader says.
func addresses(t *testing.T, path string) map[string]elf.Symbol {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]elf.Symbol{}
	for _, symbol := range symbols {
		found[symbol.Name] = symbol
	}
	return found
}

func requireName(t *testing.T, table *Table, address uint64, want string, wantOffset uint64) {
	t.Helper()
	if name, offset, ok := table.Lookup(address); !ok || name != want || offset != wantOffset {
		t.Errorf("Lookup(%#x) = %q + %d, %v, want %q + %d", address, name, offset, ok, want, wantOffset)
	}
}

func requireNone(t *testing.T, table *Table, address uint64) {
	t.Helper()
	if name, offset, ok := table.Lookup(address); ok {
		t.Errorf("Lookup(%#x) = %q + %d, want none", address, name, offset)
	}
}

func TestLoadNamesFunctions(t *testing.T) {
	path := program(t)
	table, err := Open("/", path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := addresses(t, path)
	for _, name := range []string{"hidden", "visible", "main", "indirect", "after"} {
		requireName(t, table, at[name].Value, name, 0)
		if size := at[name].Size; size > 1 {
			requireName(t, table, at[name].Value+size-1, name, size-1)
		}
	}
	requireName(t, table, at["sizeless"].Value+3, "sizeless", 3)
	requireNone(t, table, at["after"].Value+1)
	requireNone(t, table, 0)
	requireNone(t, table, 1<<63)
}

func TestLoadNamesStubs(t *testing.T) {
	for name, flags := range map[string][]string{"endbr": {"-fcf-protection=full"}, "plain": {"-fcf-protection=none"}} {
		table, err := Open("/", program(t, append(flags, "-Wl,-z,lazy")...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(table.text, "write@plt\x00") {
			t.Errorf("%s: no write@plt", name)
		}
	}
}

// TestStubsAreWhereTheDisassemblerSays compares with objdump, which decodes the stubs.
func TestStubsAreWhereTheDisassemblerSays(t *testing.T) {
	path := program(t, "-Wl,-z,lazy")
	output, err := exec.Command("objdump", "-d", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open("/", path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := bytes.Cut(output, []byte(" <write@plt>:"))
	address, ok := parseHex(before[bytes.LastIndexByte(before, '\n')+1:])
	if !found || !ok {
		t.Fatalf("no stub in %s", output)
	}
	requireName(t, table, address, "write@plt", 0)
}

func TestStrippedFileHasNoNames(t *testing.T) {
	path := program(t, "-static", "-s")
	if _, err := Open("/", path, Options{}); !errors.Is(err, ErrNoSymbols) {
		t.Errorf("open: %v", err)
	}
	dynamic := program(t, "-rdynamic")
	at := addresses(t, dynamic)
	run(t, "strip", dynamic)
	table, err := Open("/", dynamic, Options{})
	if err != nil {
		t.Fatal(err)
	}
	requireName(t, table, at["visible"].Value, "visible", 0)
	requireNone(t, table, at["hidden"].Value)
}

// A stripped file still tells where its functions begin; what has a name keeps it.
func TestUnnamedFunctionsAreKnownByTheirAddress(t *testing.T) {
	path := program(t, "-rdynamic")
	at := addresses(t, path)
	run(t, "strip", path)
	table, err := Open("/", path, Options{Unnamed: true})
	if err != nil {
		t.Fatal(err)
	}
	requireName(t, table, at["visible"].Value, "visible", 0)
	hidden := at["hidden"].Value
	requireName(t, table, hidden, fmt.Sprintf("+%#x()", hidden), 0)
	if size := at["hidden"].Size; size > 1 {
		requireName(t, table, hidden+size-1, fmt.Sprintf("+%#x()", hidden), size-1)
	}
}

// TestDebugFiles looks for the names of a stripped file in every place where they may be, below a
// container's root.
func TestDebugFiles(t *testing.T) {
	whole := program(t)
	at := addresses(t, whole)
	file, err := elf.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	id := buildID(file)
	file.Close()
	idPath := filepath.Join("usr/lib/debug/.build-id", hexOf(id[:1]), hexOf(id[1:])+".debug")
	for name, place := range map[string]string{
		"build id":          idPath,
		"debug link":        "app/program.debug",
		"folder .debug":     "app/.debug/program.debug",
		"/usr/lib/debug":    "usr/lib/debug/app/program.debug",
		"merged usr folder": "usr/lib/debug/usr/app/program.debug",
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			stripped := filepath.Join(root, "app/program")
			debug := filepath.Join(root, place)
			for _, path := range []string{stripped, debug} {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			run(t, "objcopy", "--only-keep-debug", whole, filepath.Join(root, "program.debug"))
			run(t, "objcopy", "--strip-all", "--add-gnu-debuglink="+filepath.Join(root, "program.debug"), whole, stripped)
			if err := os.Rename(filepath.Join(root, "program.debug"), debug); err != nil {
				t.Fatal(err)
			}
			table, err := Open(root, "/app/program", Options{})
			if err != nil {
				t.Fatal(err)
			}
			requireName(t, table, at["hidden"].Value, "hidden", 0)
			without, err := Open(root, "/app/program", Options{NoDebugFiles: true})
			if err != nil && !errors.Is(err, ErrNoSymbols) {
				t.Fatal(err)
			}
			if err == nil {
				requireNone(t, without, at["hidden"].Value)
			}
		})
	}
}

func hexOf(data []byte) string {
	const digits = "0123456789abcdef"
	var text []byte
	for _, b := range data {
		text = append(text, digits[b>>4], digits[b&15])
	}
	return string(text)
}

func TestDebugFileOfAnotherBuildIsNotTaken(t *testing.T) {
	root := t.TempDir()
	path := program(t)
	at := addresses(t, path)
	stripped, debug := filepath.Join(root, "program"), filepath.Join(root, "program.debug")
	run(t, "objcopy", "--only-keep-debug", program(t, "-O0"), debug)
	run(t, "objcopy", "--strip-all", "--add-gnu-debuglink="+debug, path, stripped)
	table, err := Open(root, "/program", Options{})
	if errors.Is(err, ErrNoSymbols) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	requireNone(t, table, at["hidden"].Value)
}

func TestMiniDebugInfo(t *testing.T) {
	path := program(t)
	at := addresses(t, path)
	folder := t.TempDir()
	mini, stripped := filepath.Join(folder, "mini"), filepath.Join(folder, "program")
	run(t, "objcopy", "-S", "--keep-symbol=hidden", path, mini)
	run(t, "xz", "-k", mini)
	run(t, "objcopy", "-S", "--add-section", ".gnu_debugdata="+mini+".xz", path, stripped)
	table, err := Open("/", stripped, Options{NoDebugFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	requireName(t, table, at["hidden"].Value, "hidden", 0)

	content, err := os.ReadFile(mini)
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-0"}, {"-6", "--check=none"}, {"-9", "--check=sha256"}, {"--block-size=4096"},
		{"-T2", "--block-size=5000"}} {
		command := exec.Command("xz", append(flags, "-c", mini)...)
		packed, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := unpackXZ(packed, maxExpanded)
		if err != nil || !bytes.Equal(unpacked, content) {
			t.Errorf("xz %v: %d bytes, %v", flags, len(unpacked), err)
		}
		if _, err := unpackXZ(packed, len(content)-1); err == nil {
			t.Errorf("xz %v: more than the limit was unpacked", flags)
		}
	}
}

func TestHugeXZDictionaryIsRefused(t *testing.T) {
	packed, err := exec.Command("sh", "-c", "echo hello | xz --lzma2=dict=1GiB -c").Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpackXZ(packed, maxExpanded); err == nil || !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("unpack: %v", err)
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	root := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(root, "outside")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/pipe", "/none", "/", "/outside", "/../../../../bin/sh"} {
		if _, err := Open(root, path, Options{}); err == nil {
			t.Errorf("%s below a container's root was opened", path)
		}
	}
	if _, err := Open("/", "/dev/null", Options{}); err == nil {
		t.Error("/dev/null was opened")
	}
}

// Names that are read from the file are those that would have been copied, and a file that was cut
// short has none.
func TestNamesAreReadFromAFileThatLasts(t *testing.T) {
	path := program(t)
	copied, err := Open("/", path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lasting, err := Load(file, Options{Path: path, Lasts: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(lasting.text) >= len(copied.text) || lasting.Len() != copied.Len() || copied.Len() == 0 {
		t.Errorf("%d functions with %d bytes of names; copied, %d with %d", lasting.Len(), len(lasting.text), copied.Len(),
			len(copied.text))
	}
	for i, start := range copied.starts {
		if want, got := copied.name(i), lasting.name(i); got != want {
			t.Errorf("at %#x: %q, want %q", start, got, want)
		}
	}
	if err := file.Truncate(lasting.texts); err != nil {
		t.Fatal(err)
	}
	if name, _, ok := lasting.Lookup(copied.starts[0]); ok && lasting.names[0]&inFile != 0 {
		t.Errorf("%q is read from a file that is cut short", name)
	}
}
