package recording

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
)

// Gap is a stretch in which nothing was recorded, between two parts of a recording. The recording's
// clock stands still meanwhile: what happens per second of it stays right, and the sum of the gaps
// before a time leads from there to the clock on the wall.
type Gap struct {
	TimeNs   int64  `json:"time_ns"` // on the recording's clock
	LengthNs int64  `json:"length_ns"`
	Why      string `json:"why"`
}

// Join makes one recording of several that follow each other, and writes it to a file as Write
// does. It takes one table of one part into memory at a time, and what is in the parts together of
// frames, stacks and totals. Rows beyond a table's limit are counted among the losses: those of
// least weight are left out of each part. What only the whole knows is set by edit (nil: nothing)
// before the manifest is written.
func Join(path string, parts []string, edit func(*Manifest)) error {
	if len(parts) == 0 {
		return fmt.Errorf("join recordings: no parts given")
	}
	j := &join{builder: NewBuilder(), processIDs: map[int32]bool{}}
	for _, path := range parts {
		p := &part{path: path}
		if err := p.read(func(from *archive) error { return j.take(p, from) }); err != nil {
			return fmt.Errorf("join recordings: %w", err)
		}
	}
	return wholly(path, func(w io.Writer) error { return j.encode(w, edit) })
}

// join is what is known of all parts.
type join struct {
	parts    []*part
	builder  *Builder
	manifest Manifest
	facts    []Fact
	archive  *zip.Writer
	codec    *codec

	processIDs map[int32]bool // that any part has a row for
}

func (j *join) isLast(p *part) bool { return p == j.parts[len(j.parts)-1] }

// part is one recording of those that are joined. Its file is open only while it is read: a day has
// thousands of parts.
type part struct {
	path     string
	offsetNs int64          // of its start on the clock of the whole
	stacks   []int32        // its stacks' ids in the whole
	goOn     map[int32]bool // processes that were there at its end
}

// read opens the part for as long as use takes.
func (p *part) read(use func(*archive) error) error {
	err := p.open(use)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.path, err)
	}
	return nil
}

func (p *part) open(use func(*archive) error) error {
	file, err := os.Open(p.path)
	if err != nil {
		return withoutPath(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return withoutPath(err)
	}
	from, err := openArchive(file, info.Size())
	if err != nil {
		return err
	}
	return use(from)
}

// rowsOf reads one table of a part.
func rowsOf[T any](p *part, name string, limit int) (rows []T, err error) {
	err = p.read(func(from *archive) error {
		if isRequestTable(name) {
			return readLater(from, name, int64(limit), &rows)
		}
		return readMember(from, name, int64(limit), &rows)
	})
	return rows, err
}

// take keeps what every table needs of a part: its place in time and its stacks.
func (j *join) take(p *part, from *archive) error {
	var manifest Manifest
	if err := from.readManifest(&manifest); err != nil {
		return err
	}
	if manifest.Schema < 2 {
		return fmt.Errorf("schema %d has no parts", manifest.Schema)
	}
	var facts []Fact
	if err := from.readDocument(factsMember, &facts); err != nil {
		return err
	}
	p.offsetNs = j.manifest.WindowNs
	j.parts = append(j.parts, p)
	j.manifest = follow(j.manifest, manifest, len(j.parts) == 1)
	j.facts = laterFacts(j.facts, facts)
	if err := j.takeLives(p, from); err != nil {
		return err
	}
	return j.takeStacks(p, from)
}

func (j *join) takeStacks(p *part, from *archive) error {
	var frames []Frame
	var stacks []Stack
	if err := readMember(from, "frames", MaxFrames, &frames); err != nil {
		return err
	}
	if err := readMember(from, "stacks", MaxStacks, &stacks); err != nil {
		return err
	}
	ids := make([]int32, len(frames))
	for i, frame := range frames {
		ids[i] = j.builder.Frame(frame)
	}
	p.stacks = make([]int32, len(stacks))
	for i, stack := range stacks {
		for k, frame := range stack.Frames {
			if frame < 0 || int(frame) >= len(ids) {
				return damaged("stack %d refers to frame %d of %d", i, frame, len(ids))
			}
			stack.Frames[k] = ids[frame]
		}
		p.stacks[i] = j.builder.Stack(stack.Frames)
	}
	return nil
}

// stack gives the id in the whole; a stack that the part does not have is none.
func (p *part) stack(id *int32) {
	if *id < 0 || int(*id) >= len(p.stacks) {
		*id = NoStack
		return
	}
	*id = p.stacks[*id]
}

// laterFacts has each fact as it was read last.
func laterFacts(facts, later []Fact) []Fact {
	at := map[string]int{}
	for i, fact := range facts {
		at[fact.Name] = i
	}
	for _, fact := range later {
		if i, known := at[fact.Name]; known {
			facts[i] = fact
			continue
		}
		at[fact.Name] = len(facts)
		facts = append(facts, fact)
	}
	return facts
}

func (j *join) encode(w io.Writer, edit func(*Manifest)) error {
	j.archive = zip.NewWriter(w)
	j.codec = &codec{}
	for _, write := range []func() error{j.samples, j.waits, j.slow, j.metrics, j.processes, j.threads, j.totals,
		j.dependencies, j.requests} {
		if err := write(); err != nil {
			return err
		}
	}
	whole := &Recording{}
	j.builder.Into(whole)
	j.facts, j.manifest.Held = FactsBetween(j.facts, j.manifest.Held, 0, j.manifest.WindowNs)
	inOrder(j.manifest.Held)
	j.manifest.Losses = addLosses(j.manifest.Losses, whole.Manifest.Losses)
	for _, err := range []error{
		writeTable(j.archive, j.codec, "frames", whole.Frames),
		writeTable(j.archive, j.codec, "stacks", whole.Stacks),
		writeDocument(j.archive, factsMember, j.facts),
	} {
		if err != nil {
			return err
		}
	}
	j.manifest.Schema = SchemaVersion
	if j.manifest.BlindSpots = wholeSpots(j.manifest); edit != nil {
		edit(&j.manifest)
	}
	if err := writeDocument(j.archive, manifestMember, j.manifest); err != nil {
		return err
	}
	return j.archive.Close()
}

// lose counts rows that were left out.
func (j *join) lose(table string, count int) {
	lost := Loss{What: "joining parts: rows of " + table, Count: int64(count)}
	j.manifest.Losses = addLosses(j.manifest.Losses, []Loss{lost})
}
