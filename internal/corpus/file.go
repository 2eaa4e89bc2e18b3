package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	quick "github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"
)

// Extension ends the names of a corpus' files.
const Extension = ".zst"

// bytesMax bounds what is read of one file, unpacked.
const bytesMax = 256 << 20

// List names the files of a corpus, in order.
func List(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"+Extension))
	if err != nil {
		return nil, fmt.Errorf("list corpus %s: %w", folder, err)
	}
	return files, nil
}

// Open reads one pair.
func Open(path string) (*Pair, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open judgement: %w", err)
	}
	defer file.Close()
	pair, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("read judgement %s: %w", path, err)
	}
	return pair, nil
}

// Read reads one pair.
func Read(r io.Reader) (*Pair, error) {
	unpacked, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(bytesMax))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer unpacked.Close()
	text, err := io.ReadAll(io.LimitReader(unpacked, bytesMax))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return parse(text)
}

func parse(text []byte) (*Pair, error) {
	var doc document
	// As encoding/json, in half of the time: a fifth of a replay was parsing.
	if err := quick.Unmarshal(text, &doc, quick.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return decode(&doc)
}

// Save writes a pair to its file in the folder: whole or not at all.
func (p *Pair) Save(folder string) error {
	content, err := p.bytes()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, "."+p.Name+"-*")
	if err != nil {
		return fmt.Errorf("save judgement: %w", err)
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(folder, p.Name+Extension))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("save judgement of %s: %w", p.Name, err), os.Remove(file.Name()))
	}
	return nil
}

func (p *Pair) bytes() ([]byte, error) {
	doc, err := encode(p)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write judgement of %s: %w", p.Name, err)
	}
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("pack judgement of %s: %w", p.Name, err)
	}
	return packer.EncodeAll(text, nil), nil
}
