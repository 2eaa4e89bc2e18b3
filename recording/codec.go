package recording

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// codec compresses pages of tables with one encoder. Parquet's own keeps one for each CPU, each
// with 8 MB for the past of what it compresses: pages are shorter than the window here. Its zero
// value is ready for use.
type codec struct {
	parquetzstd.Codec // reads

	mu      sync.Mutex
	encoder *zstd.Encoder
}

// codecWindow is how far back repetitions are looked for, in bytes.
const codecWindow = 1 << 20

// Encode appends to dst[:0] what src is when it is compressed.
func (c *codec) Encode(dst, src []byte) (packed []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.encoder == nil {
		c.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
			zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(codecWindow))
		if err != nil {
			return nil, err
		}
	}
	return c.encoder.EncodeAll(src, dst[:0]), nil
}
