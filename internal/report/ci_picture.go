package report

import (
	"bytes"
	"fmt"
	"html"
	"io"

	"culprit/internal/ci"
)

// The picture's measures in pixels. A row is a side, or the change; a block is a metric.
const (
	ciWidth  = 720
	ciLeft   = 130
	ciRight  = 20
	ciRow    = 26
	ciBlock  = 5 * ciRow
	ciTop    = 10
	dotsEach = 400 // of a side: more only cover each other
)

// ciStyle follows the reader's colours also where the picture is shown by a service.
const ciStyle = `<style>
text{font:12px system-ui,sans-serif;fill:#1a1f2b}.dim{fill:#5b6475}.axis{stroke:#c5cad3}
.a{fill:#0b6fa4}.b{fill:#c2500a}.bar{stroke-width:3;stroke:#1a1f2b}.band{fill:#8a93a31f}
@media (prefers-color-scheme:dark){text{fill:#e8eaf0}.dim{fill:#9aa3b2}.axis{stroke:#4a5263}
.a{fill:#5fb4e5}.b{fill:#f0954f}.bar{stroke:#e8eaf0}}
</style>`

// CIPicture writes a check as a picture of its own: for each metric a row of dots for A and for B,
// and below the change with its interval. A is round and B square, so that nothing is told by
// colour alone.
func CIPicture(w io.Writer, r *ci.Result) error {
	var out bytes.Buffer
	height := ciTop + len(r.Metrics)*ciBlock + ciTop
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`,
		ciWidth, height, ciWidth, height)
	fmt.Fprintf(&out, "\n<title>culprit: %s</title>\n%s\n", html.EscapeString(ciTitle(r)), ciStyle)
	for i, verdict := range r.Metrics {
		ciMetric(&out, r, verdict, ciTop+i*ciBlock)
	}
	out.WriteString("</svg>\n")
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

// ciX is where a share of the width stands.
func ciX(share float64) float64 { return ciLeft + share*(ciWidth-ciLeft-ciRight) }

func ciMetric(out *bytes.Buffer, r *ci.Result, v ci.Verdict, top int) {
	values := r.Values[v.Metric.Name]
	low, high := bounds(values.A, values.B)
	a := axis{low: low, high: high}
	unit := scaleFor(v.Metric.Unit, low, high)
	ciText(out, 4, top+14, "", metricNoun(v.Metric.Name))
	for i, side := range [][]float64{values.A, values.B} {
		y := top + ciRow*(i+1)
		ciText(out, 20, y+4, "", string('A'+rune(i)))
		for n, value := range side[:min(len(side), dotsEach)] {
			x, lift := ciX(a.at(value)), float64(y)+float64(n*5%11)-5
			if i == 0 {
				fmt.Fprintf(out, `<circle class="a" cx="%.1f" cy="%.1f" r="3.5" fill-opacity=".6"/>`, x, lift)
			} else {
				fmt.Fprintf(out, `<rect class="b" x="%.1f" y="%.1f" width="6" height="6" fill-opacity=".6"/>`, x-3, lift-3)
			}
		}
		out.WriteString("\n")
	}
	ciAxis(out, top+ciRow*5/2+4, a.ticks(unit.factor, unit.unit))
	ciChange(out, r, v, top+ciRow*7/2+4)
}

// ciChange draws the change and what may fail.
func ciChange(out *bytes.Buffer, r *ci.Result, v ci.Verdict, y int) {
	ciText(out, 20, y+4, "", "change")
	e := v.Effect
	if !finite(e.Low) || !finite(e.High) || !finite(e.Ratio) || e.Low <= 0 {
		ciText(out, ciLeft, y+4, "dim", "not known")
		return
	}
	limit := 1 + r.FailOver
	ratios := axis{low: min(e.Low, 1/limit), high: max(e.High, limit), log: true}
	from, to, one := ciX(ratios.at(1/limit)), ciX(ratios.at(limit)), ciX(ratios.at(1))
	fmt.Fprintf(out, `<rect class="band" x="%.1f" y="%d" width="%.1f" height="20"/>`, from, y-10, to-from)
	fmt.Fprintf(out, `<line class="axis" x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke-dasharray="3"/>`, one, one, y-10, y+10)
	fmt.Fprintf(out, `<line class="bar" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`,
		ciX(ratios.at(e.Low)), ciX(ratios.at(e.High)), y, y)
	fmt.Fprintf(out, `<circle class="b" cx="%.1f" cy="%d" r="5"/>`+"\n", ciX(ratios.at(e.Ratio)), y)
	ciAxis(out, y+10, ratios.ticks(1, "×"))
}

func ciAxis(out *bytes.Buffer, y int, ticks []tickView) {
	fmt.Fprintf(out, `<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/>`, ciLeft, ciWidth-ciRight, y, y)
	for _, tick := range ticks {
		var share float64
		if _, err := fmt.Sscanf(tick.X, "%f%%", &share); err != nil {
			continue
		}
		fmt.Fprintf(out, `<text class="dim" x="%.1f" y="%d" text-anchor="%s">%s</text>`, ciX(share/100), y+13, tick.Anchor,
			html.EscapeString(tick.Text))
	}
	out.WriteString("\n")
}

func ciText(out *bytes.Buffer, x, y int, class, text string) {
	fmt.Fprintf(out, `<text x="%d" y="%d" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(text))
}
