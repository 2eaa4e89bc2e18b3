package machine

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// handScript opens the second serial port and defines what hands a file out over it: a line with
// its name, size and checksum, and its bytes as they are.
const handScript = `exec 9> PORT
stty raw -echo < PORT
hand() {
	echo "` + fileBegins + `$(basename "$1") $(stat -c %s "$1") $(sha256sum "$1" | cut -d ' ' -f 1)" >&9
	cat "$1" >&9
}
`

// closeScript waits until all is through: the guest is switched off at once afterwards.
const closeScript = `
echo "` + allHanded + `" >&9
exec 9>&-
`

// Lines on the second serial port.
const (
	fileBegins = "---file "
	allHanded  = "---all handed out---"
)

// What a guest may hand out at most: what it says of its files is not believed.
const (
	mostFiles     = 64
	mostFileBytes = 256 << 20
	longestLine   = 512
)

// unpack puts the files that were handed out into a folder.
func unpack(line, folder string) error {
	file, err := os.Open(line)
	if err != nil {
		return fmt.Errorf("the guest handed nothing out: %w", err)
	}
	defer file.Close()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	files := bufio.NewReaderSize(file, longestLine)
	for range mostFiles {
		one, content, err := next(files)
		switch {
		case errors.Is(err, errAllHanded):
			return nil
		case err != nil:
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, one), content, 0o644); err != nil {
			return err
		}
	}
	return fmt.Errorf("the guest handed out more than %d files", mostFiles)
}

// errAllHanded says that no file follows.
var errAllHanded = errors.New("all files are handed out")

// next reads the name and the content of the next file.
func next(from *bufio.Reader) (name string, content []byte, err error) {
	line, err := from.ReadSlice('\n')
	if err != nil {
		return "", nil, fmt.Errorf("the guest broke off while it handed files out: %w", err)
	}
	text := strings.TrimRight(string(line), "\r\n")
	if text == allHanded {
		return "", nil, errAllHanded
	}
	name, size, sum, err := header(text)
	if err != nil {
		return "", nil, err
	}
	var buffer bytes.Buffer // grows with what comes, not with what was promised
	if got, err := io.CopyN(&buffer, from, size); err != nil {
		return "", nil, fmt.Errorf("the guest broke off after %d of %d bytes of %s: %w", got, size, name, err)
	}
	if found := sha256.Sum256(buffer.Bytes()); hex.EncodeToString(found[:]) != sum {
		return "", nil, fmt.Errorf("%s came out of the guest with another checksum than it had there", name)
	}
	return name, buffer.Bytes(), nil
}

// header takes the line before a file apart.
func header(text string) (name string, size int64, sum string, err error) {
	rest, found := strings.CutPrefix(text, fileBegins)
	words := strings.Fields(rest)
	if !found || len(words) != 3 {
		return "", 0, "", fmt.Errorf("the guest handed out %q, which begins no file", text)
	}
	name, sum = words[0], words[2]
	if name != filepath.Base(name) || !filepath.IsLocal(name) || strings.HasPrefix(name, ".") {
		return "", 0, "", fmt.Errorf("the guest handed out a file named %q", name)
	}
	size, err = strconv.ParseInt(words[1], 10, 64)
	if err != nil || size < 0 || size > mostFileBytes {
		return "", 0, "", fmt.Errorf("the guest handed out %s with %q bytes; at most %d are taken", name, words[1],
			int64(mostFileBytes))
	}
	return name, size, sum, nil
}
