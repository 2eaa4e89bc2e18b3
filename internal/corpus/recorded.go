package corpus

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"culprit/internal/compare"
	"culprit/internal/compare/settings"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/recording"

	"github.com/klauspost/compress/zstd"
)

// RecordingsExtension ends the names of archives of a pair's recordings. One is made by
//
//	cd CASE/recordings && tar -c A-[12].culprit B-[12].culprit | zstd -19 > NAME.tar.zst
const RecordingsExtension = ".tar.zst"

// Recordings are those of a pair.
type Recordings struct{ A, B []*recording.Recording }

// OpenRecordings reads an archive of a pair's recordings.
func OpenRecordings(path string) (*Recordings, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open recordings: %w", err)
	}
	defer file.Close()
	r, err := readRecordings(file)
	if err != nil {
		return nil, fmt.Errorf("read recordings %s: %w", path, err)
	}
	return r, nil
}

func readRecordings(packed io.Reader) (*Recordings, error) {
	unpacked, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(bytesMax))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer unpacked.Close()
	r, archive := &Recordings{}, tar.NewReader(io.LimitReader(unpacked, bytesMax))
	for {
		member, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		rec, err := recording.Read(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member.Name, err)
		}
		switch side, _, _ := strings.Cut(filepath.Base(member.Name), "-"); compare.Side(side) {
		case compare.A:
			r.A = append(r.A, rec)
		case compare.B:
			r.B = append(r.B, rec)
		default:
			return nil, fmt.Errorf("%s is no recording of A or B", member.Name)
		}
	}
	if len(r.A) == 0 || len(r.B) == 0 {
		return nil, errors.New("a side has no recording")
	}
	return r, nil
}

// Compare puts what recordings show in the place of what the pair's own ones showed.
func (p *Pair) Compare(r *Recordings) error {
	shown, err := explain.Read(r.A, r.B, units.PerAuto)
	if err != nil {
		return fmt.Errorf("compare recordings of %s: %w", p.Name, err)
	}
	in := &p.Input
	explained := in.Result.Metric
	in.FactsA, in.FactsB = settings.Of(r.A), settings.Of(r.B)
	in.CPU, in.Wall = shown.CPU, shown.Wall
	if in.Result, err = shown.Of(explained); err != nil {
		return err
	}
	in.Differs = shown.Differs(in.Result)
	return nil
}

// FromCase takes a judgement out of a case directory: its recordings are compared anew. The errors
// are those of explain.Open.
func FromCase(folder string) (*Pair, error) {
	shown, known, err := explain.Open(folder)
	if err != nil {
		return nil, err
	}
	p := &Pair{Outcome: known.Outcome, Measured: known.Measured}
	p.Input, err = shown.Input(*known, known.Metric)
	return p, err
}
