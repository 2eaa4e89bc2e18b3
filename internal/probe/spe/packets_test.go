package spe

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// What hardware wrote: of a Neoverse N1, by Arm's parser (telemetry-solution, test_spe_decoder.py,
// Apache-2.0), and by a host that runs its kernel in EL2 (perf_data_converter,
// arm_spe_decoder_test.cc, BSD): kernel code, which is not told, and a branch. The first has no
// context, for its kernel was built without.
const (
	userLoad = "b0 00 b6 a9 e4 aa aa 00 80 49 00 52 16 00 99 04 00 98 08 00 b2 43 da 5d e6 aa aa 00 00 9a 01 00 " +
		"b3 43 5a 95 2c 03 08 00 80 43 00 71 af f9 04 81 00 0c 00 00"
	kernelLoad = "b0 d0 c2 a1 ed 66 ba ff c0 00 00 00 00 00 65 80 5f 00 00 49 00 52 16 00 99 04 00 98 0c 00 " +
		"b2 28 6b 09 03 37 0e ff 00 9a 01 00 00 00 00 00 00 00 00 00 00 43 00 00 00 71 2e 65 2f 6a 0a 00 00 00"
	kernelBranch = "b0 e0 b0 ef ed 66 ba ff c0 00 00 00 00 00 65 0e 00 00 00 4a 01 52 42 00 99 10 00 98 11 00 " +
		"b1 e4 b0 ef ed 66 ba ff c0 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 71 8d 65 2f 6a 0a 00 00 00"
	// The same with a context, as a store, ended without a time, and with a tag in its address.
	userStore = "b0 04 b6 a9 e4 aa aa 00 80 64 d2 04 00 00 49 01 b2 80 da 5d e6 aa aa 00 3c 01"
	// An address that this code does not know behind an extended header, and padding up to 16 bytes.
	unknown    = "20 b2 01 02 03 04 05 06 07 08"
	codePacket = 9 * 3 // characters of the first packet of userLoad
)

func packets(t *testing.T, text ...string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(strings.Join(text, ""), " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decoded(data []byte) (records []Record, broken int64) {
	broken = decode(data, 0, func(one *Record) { records = append(records, *one) })
	return records, broken
}

func TestDecode(t *testing.T) {
	load := Record{Code: 0xaaaae4a9b600, Address: 0xaaaae65dda43}
	store := Record{Tid: 1234, Code: 0xaaaae4a9b604, Address: 0xaaaae65dda80, Write: true}
	for name, test := range map[string]struct {
		data   []byte
		want   []Record
		broken int64
	}{
		"nothing":            {nil, nil, 0},
		"padding":            {make([]byte, 100), nil, 0},
		"of a user":          {packets(t, userLoad, userStore), []Record{load, store}, 0},
		"of the kernel":      {packets(t, kernelLoad, kernelBranch, userLoad), []Record{load}, 0},
		"not known":          {packets(t, unknown, userLoad), []Record{load}, 0},
		"padded to 16":       {packets(t, "01 23 00", strings.Repeat("ff", 13), userLoad), []Record{load}, 0},
		"cut off at its end": {packets(t, userLoad, userStore)[:70], []Record{load}, 2},
		"without its begin":  {packets(t, userLoad, userStore)[9:], []Record{store}, 0},
		"garbage before it":  {packets(t, "ff fe c0 01", userLoad), []Record{load}, 3},
		"garbage in the midst": {packets(t, userLoad[:codePacket], "ff", userLoad[codePacket:], userStore),
			[]Record{store}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, broken := decoded(test.data)
			if !slices.Equal(got, test.want) || broken != test.broken {
				t.Errorf("decoded %+v, %d bytes broken; want %+v, %d", got, broken, test.want, test.broken)
			}
		})
	}
}

// Whatever is written: no record that lies outside of an address space, no crash, no endless loop.
func TestDecodeAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	whole := packets(t, userLoad, kernelLoad, userStore, kernelBranch, unknown)
	for range 20_000 {
		data := slices.Clone(whole)
		for range 1 + random.IntN(8) {
			data[random.IntN(len(data))] = byte(random.Uint32())
		}
		data = data[random.IntN(len(data)):]
		broken := decode(data, random.Uint64(), func(one *Record) {
			if one.Code > addressBits || one.Address > addressBits {
				t.Fatalf("%x: %+v", data, one)
			}
		})
		if broken > int64(len(data)) {
			t.Fatalf("%x: %d bytes broken", data, broken)
		}
	}
}
