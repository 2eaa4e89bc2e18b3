package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
)

// What pictures are compared by. A block is the mean colour of some points, so that hinting and the
// shapes of letters are gone. A block differs where the other picture has none like it in the
// neighbourhood: a label of another font begins and ends elsewhere by some points. How many may
// differ was measured; see decision 0055.
const (
	blockSide   = 8  // points
	blocksNear  = 2  // in each direction
	colourApart = 18 // of 255, in the channel that differs most
)

// Serif draws with another font, which is no fault. Style sheets are what pictures are changed by:
// a capture has the page draw anew, which mends elements that were changed.
const Serif = `* { font-family: "DejaVu Serif", serif !important; }`

// Look is a part of a page that is to stay as somebody has seen it.
type Look struct {
	Path     string // of the picture that is kept
	Selector string
	Most     float64           // part of the blocks that may differ
	Hidden   string            // a style sheet that hides what differs each time
	Faults   map[string]string // style sheets that must be found, by what they do; where there are some, Serif must not be
	Update   bool              // keep what is drawn now
}

// Stays compares a part of the page that is open with its picture. It tells each measure, and what
// is wrong.
func (b *Browser) Stays(look Look) (told, wrong []string) {
	b.t.Helper()
	got := b.Blocks(look.Selector, look.Hidden)
	if look.Update {
		var file bytes.Buffer
		if err := png.Encode(&file, got); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(look.Path, file.Bytes(), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	want := b.readPicture(look.Path)
	check := func(what, change string, isFault bool) {
		if change != "" {
			got = b.Blocks(look.Selector, look.Hidden+change)
		}
		part := apart(got, want)
		told = append(told, fmt.Sprintf("%s: %s: %.4f of the blocks differ", look.Path, what, part))
		switch {
		case isFault && part <= look.Most:
			wrong = append(wrong, told[len(told)-1]+": it is not found")
		case !isFault && part > look.Most:
			wrong = append(wrong, told[len(told)-1]+": look at it (CULPRIT_PICTURES=DIR), then run again with -update")
		}
	}
	check("as it is", "", false)
	if len(look.Faults) > 0 {
		check("another font", Serif, false)
	}
	for what, change := range look.Faults {
		check(what, change, true)
	}
	b.restyle("")
	return told, wrong
}

// Blocks is a part of the page, with a style sheet, in means of blocks.
func (b *Browser) Blocks(selector, change string) *image.RGBA {
	b.t.Helper()
	b.restyle(change)
	picture, err := png.Decode(bytes.NewReader(b.Part(selector)))
	if err != nil {
		b.t.Fatal(err)
	}
	return blocksOf(picture)
}

// restyle has the page drawn with a style sheet more, instead of the last one.
func (b *Browser) restyle(sheet string) {
	b.t.Helper()
	b.Eval(fmt.Sprintf("(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync(%q); "+
		"document.adoptedStyleSheets = [sheet]; })()", sheet))
}

// blocksOf is the picture in means of blocks; a rest at the edges is left out.
func blocksOf(picture image.Image) *image.RGBA {
	bounds := picture.Bounds()
	small := image.NewRGBA(image.Rect(0, 0, bounds.Dx()/blockSide, bounds.Dy()/blockSide))
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			var sum [3]uint32
			for at := range blockSide * blockSide {
				r, g, b, _ := picture.At(bounds.Min.X+x*blockSide+at%blockSide, bounds.Min.Y+y*blockSide+at/blockSide).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r>>8, sum[1]+g>>8, sum[2]+b>>8
			}
			const points = blockSide * blockSide
			small.SetRGBA(x, y, color.RGBA{uint8(sum[0] / points), uint8(sum[1] / points), uint8(sum[2] / points), 255})
		}
	}
	return small
}

// apart is the part of the blocks of either picture that have none like them in the other; 1 for
// other sizes.
func apart(a, b *image.RGBA) float64 {
	if dx, dy := a.Rect.Dx()-b.Rect.Dx(), a.Rect.Dy()-b.Rect.Dy(); dx*dx > 1 || dy*dy > 1 {
		return 1
	}
	return max(alone(a, b), alone(b, a))
}

func alone(a, b *image.RGBA) float64 {
	count := 0
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			if !hasLike(a.RGBAAt(x, y), b, x, y) {
				count++
			}
		}
	}
	return float64(count) / float64(a.Rect.Dx()*a.Rect.Dy())
}

func hasLike(colour color.RGBA, in *image.RGBA, x, y int) bool {
	for dy := -blocksNear; dy <= blocksNear; dy++ {
		for dx := -blocksNear; dx <= blocksNear; dx++ {
			if !(image.Point{X: x + dx, Y: y + dy}).In(in.Rect) {
				continue
			}
			other := in.RGBAAt(x+dx, y+dy)
			if max(distance(colour.R, other.R), distance(colour.G, other.G), distance(colour.B, other.B)) <= colourApart {
				return true
			}
		}
	}
	return false
}

func distance(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }

func (b *Browser) readPicture(path string) *image.RGBA {
	b.t.Helper()
	file, err := os.Open(path)
	if err != nil {
		b.t.Fatalf("%v (-update keeps what is drawn now)", err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		b.t.Fatal(err)
	}
	whole := image.NewRGBA(picture.Bounds())
	for y := range whole.Rect.Dy() {
		for x := range whole.Rect.Dx() {
			whole.Set(x, y, picture.At(x, y))
		}
	}
	return whole
}
