package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	debugFolder  = "/usr/lib/debug"
	maxNote      = 1 << 16
	maxDebugFile = 4 << 30 // read through to check the sum of a debug link
)

// openBelow opens a regular file below a root without waiting for pipes. Below
// another root than "/" symbolic links cannot lead out of it: a container
// writes those.
func openBelow(root, path string) (*os.File, error) {
	var file *os.File
	var err error
	if root == "" || filepath.Clean(root) == "/" {
		file, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	} else {
		file, err = openInRoot(root, path, 0)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is not a file (%s)", info.Mode().Type())
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// openInRoot resolves links as the container does, "/" being its root
// (openat2 with RESOLVE_IN_ROOT, Linux 5.6). flags are further ones of open(2).
func openInRoot(root, path string, flags uint64) (*os.File, error) {
	folder, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: root, Err: err}
	}
	defer unix.Close(folder)
	how := &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC | flags,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	number, err := unix.Openat2(folder, path, how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Join(root, path), Err: err}
	}
	return os.NewFile(uintptr(number), path), nil
}

// addDebugFile adds the symbols of the first separate debug file that belongs to the file.
func addDebugFile(builder *tableBuilder, file *elf.File, options Options) {
	id := buildID(file)
	_, sum, linked := debugLink(file)
	belongs := func(debug *elf.File, content io.ReaderAt) bool {
		if other := buildID(debug); len(id) > 0 && len(other) > 0 {
			return bytes.Equal(other, id)
		}
		return linked && sumOf(content) == sum
	}
	for _, path := range debugPaths(file, options) {
		if addFrom(builder, options.Root, path, belongs) == nil {
			return
		}
	}
	if len(id) > 2 && options.Root != "" {
		_ = addFrom(builder, "", debugPath(id), belongs) // this host may have what the container lacks
	}
}

// debugPath is where distributions put the debug file of a build.
func debugPath(id []byte) string {
	name := hex.EncodeToString(id)
	return filepath.Join(debugFolder, ".build-id", name[:2], name[2:]+".debug")
}

// debugPaths returns where the separate debug file of a file may lie, by its build id and by its
// debug link.
func debugPaths(file *elf.File, options Options) (paths []string) {
	if id := buildID(file); len(id) > 2 {
		paths = append(paths, debugPath(id))
	}
	if link, _, ok := debugLink(file); ok {
		paths = append(paths, linkPaths(options.Path, link)...)
	}
	return paths
}

var errOtherFile = errors.New("the debug file belongs to another build")

func addFrom(builder *tableBuilder, root, path string, belongs func(*elf.File, io.ReaderAt) bool) error {
	content, err := openBelow(root, path)
	if err != nil {
		return err
	}
	defer content.Close()
	debug, err := openELF(content)
	if err != nil {
		return err
	}
	if !belongs(debug, content) {
		return errOtherFile
	}
	_, err = addSymbols(builder, debug, elf.SHT_SYMTAB)
	return err
}

// linkPaths returns where a debug link may lead, as GDB searches
// (https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html).
func linkPaths(path, link string) []string {
	if path == "" {
		return nil
	}
	folder := filepath.Dir(path)
	paths := []string{
		filepath.Join(folder, link),
		filepath.Join(folder, ".debug", link),
		filepath.Join(debugFolder, folder, link),
	}
	// Where /lib is a link to /usr/lib, packages install under either name.
	if short, ok := strings.CutPrefix(folder, "/usr/"); ok {
		return append(paths, filepath.Join(debugFolder, short, link))
	}
	return append(paths, filepath.Join(debugFolder, "usr", folder, link))
}

// debugLink returns the file name and the sum in .gnu_debuglink.
func debugLink(file *elf.File) (name string, sum uint32, ok bool) {
	section := file.Section(".gnu_debuglink")
	if section == nil {
		return "", 0, false
	}
	data, err := sectionData(section, maxNote)
	if err != nil {
		return "", 0, false
	}
	end := bytes.IndexByte(data, 0)
	at := (end + 4) &^ 3
	if end <= 0 || at+4 > len(data) {
		return "", 0, false
	}
	name = string(data[:end])
	// A name and nothing else: the file chose it.
	if name != filepath.Base(name) || name == ".." || name == "." {
		return "", 0, false
	}
	return name, file.ByteOrder.Uint32(data[at:]), true
}

func sumOf(content io.ReaderAt) uint32 {
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(content, 0, maxDebugFile)); err != nil {
		return 0
	}
	return sum.Sum32()
}

// buildID returns the GNU build id of a file, nil when it has none.
func buildID(file *elf.File) []byte {
	section := file.Section(".note.gnu.build-id")
	if section == nil {
		return nil
	}
	data, err := sectionData(section, maxNote)
	if err != nil || len(data) < 16 {
		return nil
	}
	nameBytes, idBytes := file.ByteOrder.Uint32(data), file.ByteOrder.Uint32(data[4:])
	if nameBytes != 4 || string(data[12:16]) != "GNU\x00" || idBytes > 64 || int(idBytes) > len(data)-16 {
		return nil
	}
	return data[16 : 16+idBytes]
}
