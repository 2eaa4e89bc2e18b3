package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"culprit/internal/bisect"
	"culprit/internal/cause"
)

// Bisect writes which candidate made the program slower, its effect, the suspect inside it and the
// hunks that touch it.
func Bisect(w io.Writer, r *bisect.Result, opts TextOptions) error {
	p := newPage(opts)
	if len(r.Culprits) == 0 {
		p.noCulprit(r)
	}
	for i, culprit := range r.Culprits {
		if i > 0 {
			p.blank()
		}
		p.culprit(r, culprit)
	}
	p.blank()
	p.searchLimits(r)
	if _, err := w.Write(p.out.Bytes()); err != nil {
		return fmt.Errorf("write bisect: %w", err)
	}
	return nil
}

// BisectListed says in one line what is searched, before anything is built.
func BisectListed(steps int, order string) string {
	halvings := int(math.Ceil(math.Log2(float64(max(1, steps)))))
	text := fmt.Sprintf("%s between the ends", plural(steps, "step"))
	if order != "" {
		text += ", in " + order + " order"
	}
	return fmt.Sprintf("%s: at least %s; both ends are built and compared first, which tells how long it takes", text,
		plural(halvings+min(2, steps), "build"))
}

// BisectEstimate says in one line what a search will take.
func BisectEstimate(e bisect.Estimate) string {
	left := time.Duration(e.Seconds * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s between the ends: about %s (for one culprit at most %d), %s of %s, %s of %s: about %v",
		plural(e.Candidates, "step"), plural(e.Decisions, "decision"), e.Most, plural(e.Builds, "build"), amount(e.BuildS,
			"s"),
		plural(e.Runs, "run"), amount(e.RunS, "s"), left)
}

func (p *page) noCulprit(r *bisect.Result) {
	ends := fmt.Sprintf("%s and %s", shortName(r.Good), shortName(r.Bad))
	effect := signedInterval(effectIn(r.Effect))
	switch r.Outcome {
	case bisect.Same:
		p.entry("SAME", fmt.Sprintf("%s are the same on %s (%s): there is nothing to search for", ends,
			metricNoun(r.Metric.Name), effect), bold, bold)
	case bisect.Undecided:
		p.entry("UNDECIDED", fmt.Sprintf("%s cannot be told apart on %s (%s); about %s more would: give --trials %d, a "+
			"longer run of the command, or a quieter host", ends, metricNoun(r.Metric.Name), effect,
			plural(r.NeedBlocks, "block"), min(256, 2*max(r.NeedBlocks, 50))), bold, bold)
	default:
		p.entry("UNDECIDED", fmt.Sprintf("%s differ on %s (%s), but no step between them does", ends,
			metricNoun(r.Metric.Name), effect), bold, bold)
	}
}

// shortName names a candidate: a version, or a commit with its first line.
func shortName(c bisect.Candidate) string {
	name := c.Name
	if len(name) == 40 {
		name = name[:12]
	}
	return visible(name, nameRunesMax)
}

func titled(c bisect.Candidate) string {
	text := shortName(c)
	if c.Title != "" {
		text += " “" + visible(c.Title, nameRunesMax) + "”"
	}
	if c.Author != "" {
		text += " (" + visible(c.Author, 60) + ", " + visible(c.Date, 20) + ")"
	}
	return text
}

func effectIn(e bisect.Effect) cause.Effect {
	return cause.Effect{Ratio: e.Ratio, Low: e.Low, High: e.High, Confidence: e.Confidence}
}

// changed says an effect on a metric: "wall time +5.1 % (95 % between +4.2 % and +6.0 %)".
func changed(e bisect.Effect, metric bisect.Metric) string {
	size := signed(e.Ratio - 1)
	if e.Ratio >= timesFrom {
		size = times(e.Ratio)
	}
	if math.IsInf(e.High, 1) {
		return metricNoun(metric.Name) + " " + size
	}
	return fmt.Sprintf("%s %s (%s)", metricNoun(metric.Name), size, intervalAsTold(effectIn(e)))
}

func (p *page) culprit(r *bisect.Result, c bisect.Culprit) {
	label := "CULPRIT"
	switch {
	case c.Outcome == bisect.Undecided:
		label = "LIKELIEST"
	case r.Outcome == bisect.Better:
		label = "FASTER BY"
	}
	if len(c.Among) > 0 {
		p.entry(label, fmt.Sprintf("one of %s: %s, or one of those before it that were skipped or not told apart",
			plural(len(c.Among)+1, "candidate"), titled(c.Candidate)), orange, bold)
	} else {
		p.entry(label, titled(c.Candidate), orange, bold)
	}
	text := changed(c.Effect, r.Metric) + " against " + shortName(c.Parent)
	if c.Outcome == bisect.Undecided {
		text += fmt.Sprintf("; the trials do not prove it: %s likely to be the place", percent(c.Chance))
	}
	p.entry("", text, plain, plain)
	if c.Candidate.Merge {
		p.entry("", "it is a merge: the commits that it brought in are searched with --good "+
			"$(git merge-base "+shortName(c.Parent)+" "+shortName(c.Candidate)+"^2) --bad "+shortName(c.Candidate)+"^2",
			plain, plain)
	}
	p.inside(c)
	p.hunks(c)
}

// inside tells the first suspect of the investigation of a culprit.
func (p *page) inside(c bisect.Culprit) {
	switch {
	case c.Inside == nil:
		return
	case c.Inside.Why != "":
		p.entry("suspect", "none: "+visible(c.Inside.Why, sentenceRunesMax), dim, plain)
	case len(c.Inside.Suspects) == 0:
		p.entry("suspect", "none; "+string(c.Inside.Outcome)+" in its own investigation", dim, plain)
	default:
		first := c.Inside.Suspects[0]
		text := string(first.Cause)
		if finite(first.Share.Value) {
			text += ", " + percent(first.Share.Value) + " of the change"
		}
		if len(first.Where) > 0 {
			text += ", in " + visiblePath(first.Where[0], nameRunesMax)
		}
		p.entry("suspect", text, dim, bold)
		p.entry("", visible(first.Claim, sentenceRunesMax), plain, plain)
	}
	p.entry("case", visible(c.Inside.Case, 4096), dim, plain)
}

// The limits of what is shown of a change.
const (
	hunksShown = 3
	linesShown = 24
	filesShown = 6
)

func (p *page) hunks(c bisect.Culprit) {
	if c.Change == nil {
		return
	}
	if c.Change.Why != "" {
		p.entry("diff", visible(c.Change.Why, sentenceRunesMax), dim, plain)
		return
	}
	if len(c.Change.Hunks) == 0 {
		files := c.Change.Files
		text := fmt.Sprintf("no hunk touches a function that grew; it changes %s", strings.Join(files[:min(len(files),
			filesShown)],
			", "))
		if c.Inside == nil {
			text = "it changes " + strings.Join(files[:min(len(files), filesShown)], ", ")
		}
		if len(files) > filesShown {
			text += fmt.Sprintf(" and %d more", len(files)-filesShown)
		}
		p.entry("diff", visible(text, sentenceRunesMax), dim, plain)
		return
	}
	for i, hunk := range c.Change.Hunks {
		if i == hunksShown {
			p.entry("", fmt.Sprintf("and %d more hunks in result.json", len(c.Change.Hunks)-hunksShown), dim, dim)
			return
		}
		in := "in"
		if hunk.Touches == "call" {
			in = "calls"
		}
		p.entry("diff", fmt.Sprintf("%s:%d, %s %s", visible(hunk.File, nameRunesMax), hunk.Line, in,
			visible(hunk.Function, 80)), dim, plain)
		lines := strings.Split(strings.TrimSuffix(hunk.Text, "\n"), "\n")
		for j, line := range lines {
			if j == linesShown {
				fmt.Fprintf(&p.out, "  … %s\n", plural(len(lines)-linesShown, "more line"))
				break
			}
			fmt.Fprintln(&p.out, "  "+visible(strings.ReplaceAll(line, "\t", "    "), p.width))
		}
	}
}

// searchLimits tells how the answer came about and what bounds it.
func (p *page) searchLimits(r *bisect.Result) {
	for _, rest := range r.Rests {
		if !rest.Differs {
			p.entry("rest", fmt.Sprintf("%s to %s: %s, %s", shortName(rest.From), shortName(rest.To),
				changed(rest.Effect, r.Metric), rest.Outcome), dim, plain)
		}
	}
	runs := 0
	for _, decision := range r.Decisions {
		runs += decision.Runs
	}
	what := "versions of " + visible(r.Package, nameRunesMax)
	if r.Package == "" {
		what = "commits in " + r.Order + " order"
	}
	p.entry("ends", fmt.Sprintf("%s to %s, %s: %s; noise of one run %s", shortName(r.Good), shortName(r.Bad), what,
		changed(r.Effect, r.Metric), percent(r.Noise)), dim, plain)
	p.entry("search", fmt.Sprintf("%s over %s, %s in %v, seed %d", plural(len(r.Decisions), "decision"),
		plural(r.Candidates, "step"), plural(runs, "run"),
		time.Duration(r.ElapsedS*float64(time.Second)).Round(time.Second/10),
		r.Seed), dim, plain)
	for i, skip := range r.Skipped {
		if i == notesMax {
			p.entry("", fmt.Sprintf("and %d more skipped", len(r.Skipped)-notesMax), dim, dim)
			break
		}
		p.entry("skipped", visible(shortName(bisect.Candidate{Name: skip.Name})+": "+skip.Why, sentenceRunesMax), dim, plain)
	}
	fmt.Fprintf(&p.out, "%s %s\n", p.style(fmt.Sprintf("%-*s", labelWidth, "result"), dim),
		visible(r.Dir+"/"+bisect.ResultName, 4096))
}
