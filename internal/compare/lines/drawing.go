package lines

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"culprit/internal/code"
	"culprit/recording"
)

const (
	// Bytes of a cache line, of x86-64 and of most arm64.
	Bytes = 64

	mostUsers = 8 // drawn of one word
)

// Drawing is what lies in a line and who touches it, in the run in which it was sampled most.
type Drawing struct {
	Words []Word // by offset; what was not seen to be touched is left out
}

// Word is a place in the line.
type Word struct {
	Offset int32  `json:"offset"` // bytes from the line's begin
	Size   int32  `json:"size"`
	Name   string `json:"name,omitempty"` // variable or type, and field
	Users  []User `json:"users"`          // the busiest first, eight at most
	More   int    `json:"more,omitempty"` // users beyond those
	// Apart says that padding before this word keeps it from others' words; of false sharing alone.
	Apart bool `json:"apart,omitempty"`
	// Block is the heap block that the word lies in, where that is known.
	Block *Block `json:"block,omitempty"`
}

// Block is a heap block and who asked for it.
type Block struct {
	Size   int64  `json:"size"`
	Offset int64  `json:"offset"`       // of the word in it
	By     string `json:"by,omitempty"` // the innermost function of the program's own, "" where none is known
	File   string `json:"file,omitempty"`
	Line   int32  `json:"line,omitempty"`
}

// User is a thread, or a task of Go, that touches a word.
type User struct {
	Name   string  `json:"name"` // "parse/7101", "goroutine 2"
	Writes float64 `json:"writes"`
	Reads  float64 `json:"reads"` // samples whose operand it was; an addition counts as a write
	Hits   float64 `json:"hits"`  // of debug registers
}

// drawing draws a line from its rows.
func (u *use) drawing(rec *recording.Recording) *Drawing {
	names := u.userNames(threadNames(rec))
	type at struct{ offset, size int32 }
	words, called, blocks := map[at]map[string]*User{}, map[at]map[string]float64{}, map[at]*Block{}
	for _, row := range u.rows {
		who := names(row)
		if row.Offset < 0 || row.Offset >= Bytes || who == "" {
			continue
		}
		place := at{row.Offset, row.Size}
		if words[place] == nil {
			words[place], called[place] = map[string]*User{}, map[string]float64{}
		}
		if words[place][who] == nil {
			words[place][who] = &User{Name: who}
		}
		user := words[place][who]
		if row.Write {
			user.Writes += float64(row.Count)
		} else {
			user.Reads += float64(row.Count)
		}
		user.Hits += float64(row.Hits)
		if row.Name != "" {
			called[place][row.Name+row.Field] += float64(row.Count)
		}
		if blocks[place] == nil {
			blocks[place] = blockOf(rec, row)
		}
	}
	drawn := &Drawing{}
	for place, users := range words {
		word := Word{Offset: place.offset, Size: place.size, Name: heaviest(called[place]), Block: blocks[place]}
		for _, user := range users {
			word.Users = append(word.Users, *user)
		}
		slices.SortFunc(word.Users, func(a, b User) int {
			return cmp.Or(cmp.Compare(b.all(), a.all()), cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.Name, b.Name))
		})
		if more := len(word.Users) - mostUsers; more > 0 {
			word.Users, word.More = word.Users[:mostUsers], more
		}
		drawn.Words = append(drawn.Words, word)
	}
	slices.SortFunc(drawn.Words, func(a, b Word) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size))
	})
	if u.apart() {
		drawn.separate()
	}
	return drawn
}

// blockOf is the block of a row's word; nil where it is not known.
func blockOf(rec *recording.Recording, row *recording.Line) *Block {
	if row.BlockSize <= 0 {
		return nil
	}
	block := &Block{Size: row.BlockSize, Offset: row.BlockOffset}
	frames := rec.StackFrames(row.BlockStack)
	if at := code.Innermost(frames); at >= 0 {
		block.By, block.File, block.Line = frames[at].Name, frames[at].File, frames[at].Line
	}
	return block
}

func (u *User) all() float64 { return u.Writes + u.Reads }

// userNames names who touched a row's word: tasks where they are known, else threads.
func (u *use) userNames(threads map[int32]string) func(*recording.Line) string {
	if !u.byTask() {
		return func(row *recording.Line) string {
			name := fmt.Sprintf("%s/%d", cmp.Or(threads[row.Tid], row.Comm), row.Tid)
			if len(u.pids) > 1 && row.Tid != row.Pid {
				name += fmt.Sprintf(" of process %s/%d", row.Comm, row.Pid)
			} else if len(u.pids) > 1 {
				name = "process " + name
			}
			return name
		}
	}
	tasks, _ := u.tasks.each()
	numbers := map[uint64]int{}
	for i, task := range slices.SortedFunc(maps.Keys(tasks), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(tasks[b], tasks[a]), cmp.Compare(a, b))
	}) {
		numbers[task] = i + 1
	}
	return func(row *recording.Line) string {
		if numbers[row.Task] == 0 {
			return ""
		}
		return fmt.Sprint("goroutine ", numbers[row.Task])
	}
}

func heaviest(counts map[string]float64) (name string) {
	for _, one := range slices.Sorted(maps.Keys(counts)) {
		if name == "" || counts[one] > counts[name] {
			name = one
		}
	}
	return name
}

// separate marks where padding belongs: before a word that another writes than the one before it,
// or that is written next to words that are only read.
func (d *Drawing) separate() {
	before := ""
	for i := range d.Words {
		word := &d.Words[i]
		owner := word.owner()
		word.Apart = i > 0 && owner != before && word.Offset > d.Words[i-1].Offset
		before = owner
	}
}

// owner is who writes a word most; of one that is only read nobody.
func (w *Word) owner() string {
	writes, name := 0.0, ""
	for i := range w.Users {
		if w.Users[i].Writes > writes {
			writes, name = w.Users[i].Writes, w.Users[i].Name
		}
	}
	return name
}

// threadNames are the names of threads.
func threadNames(rec *recording.Recording) map[int32]string {
	found := map[int32]string{}
	for i := range rec.Threads {
		found[rec.Threads[i].Tid] = rec.Threads[i].Comm
	}
	return found
}

// languages are those of the code that touches a line, by name.
func languages(rec *recording.Recording, of *use) []string {
	found := map[string]bool{}
	for _, row := range of.rows {
		if frames := rec.StackFrames(row.Stack); len(frames) > 0 {
			found[code.Language(frames)] = true
		}
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}
