package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/report/browser"
)

// What pictures are compared by. A block is the mean colour of some points, so that hinting and the shapes of letters
// are gone. A block differs where the other picture has none like it in the neighbourhood: a label of another font
// begins and ends elsewhere by some points. How many may differ was measured; see decision 0055.
const (
	blockSide   = 8      // points
	blocksNear  = 2      // in each direction
	colourApart = 18     // of 255, in the channel that differs most
	svgApart    = 0.0022 // part of all blocks
	canvasApart = 0.01   // labels that do not fit their boxes are cut elsewhere in another font
)

// drawnPart is a part of a page, drawn from data that stay.
type drawnPart struct {
	name, path, part, scheme string
	width                    int
}

func drawnParts(t *testing.T) []drawnPart {
	t.Helper()
	folder := t.TempDir()
	found, swept := filepath.Join(folder, "case.html"), filepath.Join(folder, "experiment.html")
	if err := HTML(found, worseCase()); err != nil {
		t.Fatal(err)
	}
	if err := ExperimentHTML(swept, sweptExperiment(4)); err != nil {
		t.Fatal(err)
	}
	return []drawnPart{
		{"dots-light", found, "#trials figure", "light", 1280},
		{"dots-dark", found, "#trials figure", "dark", 1280},
		{"dots-narrow", found, "#trials figure", "light", 360},
		{"flame-light", found, "#flame canvas", "light", 1280},
		{"flame-dark", found, "#flame canvas", "dark", 1280},
		{"experiment-light", swept, "#worth figure", "light", 1280},
	}
}

// most is the part of the blocks that may differ.
func (g drawnPart) most() float64 {
	if strings.HasSuffix(g.part, "canvas") {
		return canvasApart
	}
	return svgApart
}

// shoot opens the page and returns the blocks of its part.
func (g drawnPart) shoot(t *testing.T, b *browser.Browser, change string) *image.RGBA {
	t.Helper()
	b.Window(g.width, 900, g.scheme)
	b.Go("about:blank")
	b.Go("file://" + g.path)
	b.Wait("document.readyState === 'complete' && document.querySelector('footer') !== null && " +
		"document.querySelector('" + g.part + "')?.getBoundingClientRect().height > 60 && " +
		"document.querySelector('" + g.part + "').matches('canvas[data-boxes], :has(svg)')")
	if change != "" {
		b.Eval(fmt.Sprintf("(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync(%q); "+
			"document.adoptedStyleSheets = [sheet]; })()", change))
	}
	picture, err := png.Decode(bytes.NewReader(b.Part(g.part)))
	if err != nil {
		t.Fatal(err)
	}
	return blocksOf(picture)
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

// apart is the part of the blocks of either picture that have none like them in the other; 1 for other sizes.
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

// Pictures look as those that somebody looked at; `go test ./internal/report -run TestPicturesStay -update` renews
// them. Another font changes nothing, and what would be a fault is one.
func TestPicturesStay(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	b := browser.Start(t)
	b.Call("Emulation.setTimezoneOverride", browser.Fields{"timezoneId": "UTC"})
	b.Call("Emulation.setLocaleOverride", browser.Fields{"locale": "en-US"})
	for _, g := range drawnParts(t) {
		path, got := filepath.Join("testdata/pictures", g.name+".png"), g.shoot(t, b, "")
		if *update {
			var file bytes.Buffer
			if err := png.Encode(&file, got); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := readPicture(t, path)
		part := apart(got, want)
		t.Logf("%s: %.4f of the blocks differ", g.name, part)
		if part > g.most() {
			t.Errorf("%s: %.4f of the blocks differ: look at it (CULPRIT_PICTURES=DIR), then run again with -update",
				g.name, part)
			b.Keep("golden-" + g.name)
		}
		if g.name == "dots-light" || g.name == "flame-light" {
			lookAtChanges(t, b, g, want)
		}
	}
}

func readPicture(t *testing.T, path string) *image.RGBA {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	whole := image.NewRGBA(picture.Bounds())
	for y := range whole.Rect.Dy() {
		for x := range whole.Rect.Dx() {
			whole.Set(x, y, picture.At(x, y))
		}
	}
	return whole
}

// The planted faults, and what is none.
const (
	// In style sheets: a capture has the page draw anew, which mends elements that were changed.
	serif   = `* { font-family: "DejaVu Serif", serif !important; }`
	swapped = `:root { --a: #c24e00 !important; --b: #00669f !important; }`
	missing = "figure svg text { display: none; }"
	moved   = "figure svg .tick { translate: 60px -40px; }"
)

// lookAtChanges draws with another font, which is no fault, and plants some.
func lookAtChanges(t *testing.T, b *browser.Browser, g drawnPart, want *image.RGBA) {
	t.Helper()
	if part := apart(g.shoot(t, b, serif), want); part > g.most() {
		t.Errorf("%s: with another font %.4f of the blocks differ", g.name, part)
	} else {
		t.Logf("%s: with another font %.4f", g.name, part)
	}
	faults := map[string]string{"colours swapped": swapped, "labels missing": missing,
		"labels that lie on the drawing": moved}
	if strings.HasSuffix(g.part, "canvas") { // a style sheet reaches nothing in it
		faults = map[string]string{"other colours": "canvas { filter: hue-rotate(180deg); }"}
	}
	for name, change := range faults {
		part := apart(g.shoot(t, b, change), want)
		t.Logf("%s: %s %.4f", g.name, name, part)
		if part <= g.most() {
			t.Errorf("%s: %s is not found: %.4f of the blocks differ", g.name, name, part)
		}
	}
}
