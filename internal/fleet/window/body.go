package window

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ContentType is that of a body: the manifest as one line of JSON, then the recording's bytes.
const ContentType = "application/vnd.culprit.window"

// Path is where a hub takes the window with this content id: PUT, with "Authorization: Bearer
// TOKEN".
func Path(content string) string { return "/v1/windows/" + content }

// ContentID reads a recording to its end and returns its id and its size. It refuses more than
// MaxRecordingBytes.
func ContentID(source io.Reader) (id string, size int64, err error) {
	sum := sha256.New()
	size, err = io.Copy(sum, io.LimitReader(source, MaxRecordingBytes+1))
	if err != nil {
		return "", 0, fmt.Errorf("read recording: %w", err)
	}
	if size > MaxRecordingBytes {
		return "", 0, refused("a recording of more than %d bytes", MaxRecordingBytes)
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}

// ReadManifest reads a manifest, at most MaxManifestBytes, and checks it. Fields that it does not
// know are left out.
func ReadManifest(source io.Reader) (*Window, error) {
	text, err := io.ReadAll(io.LimitReader(source, MaxManifestBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return parse(text)
}

func parse(text []byte) (*Window, error) {
	if len(text) > MaxManifestBytes {
		return nil, refused("a manifest of more than %d bytes", MaxManifestBytes)
	}
	w := &Window{}
	if err := json.Unmarshal(text, w); err != nil {
		return nil, refused("the manifest: %v", err)
	}
	if err := w.Check(); err != nil {
		return nil, err
	}
	return w, nil
}

// Manifest is the window as one line of JSON with its end of line; it refuses what Check refuses.
func (w *Window) Manifest() ([]byte, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	if len(text) >= MaxManifestBytes {
		return nil, refused("a manifest of %d bytes, at most %d: fewer processes or labels", len(text), MaxManifestBytes-1)
	}
	return append(text, '\n'), nil
}

// Body is what an agent sends, and how long it is. The recording is not read before the body is.
func (w *Window) Body(recording io.Reader) (body io.Reader, length int64, err error) {
	line, err := w.Manifest()
	if err != nil {
		return nil, 0, err
	}
	return io.MultiReader(bytes.NewReader(line), io.LimitReader(recording, w.Bytes)), int64(len(line)) + w.Bytes, nil
}

// ReadBody is the hub's side: it reads the manifest and copies the recording to a place that the
// caller throws away on an error. It refuses, with ErrRefused, a recording whose size or sum is not
// the manifest's; another error is one of the connection or of the disk.
func ReadBody(body io.Reader, recording io.Writer) (*Window, error) {
	reader := bufio.NewReaderSize(body, 64<<10)
	line, err := readLine(reader)
	if err != nil {
		return nil, err
	}
	w, err := parse(line)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(recording, sum), io.LimitReader(reader, w.Bytes+1))
	if err != nil {
		return nil, fmt.Errorf("take recording: %w", err)
	}
	if size < w.Bytes {
		return nil, fmt.Errorf("take recording: %d of %d bytes: %w", size, w.Bytes, io.ErrUnexpectedEOF)
	}
	if size > w.Bytes {
		return nil, refused("more than the %d bytes of its manifest came", w.Bytes)
	}
	if id := hex.EncodeToString(sum.Sum(nil)); id != w.Content {
		return nil, refused("the recording's sum is %s, its manifest says %s", id, w.Content)
	}
	return w, nil
}

// readLine reads up to the first end of line, at most MaxManifestBytes.
func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxManifestBytes:
			return nil, refused("a manifest of more than %d bytes", MaxManifestBytes)
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("take manifest: %w", io.ErrUnexpectedEOF)
		default:
			return nil, fmt.Errorf("take manifest: %w", err)
		}
	}
}
