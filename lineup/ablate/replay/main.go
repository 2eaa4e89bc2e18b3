// Command replay judges one pair of the corpus as the sources are, and then with each variant that
// the judgement comes to. What differs goes to standard output as JSON.
//
//	replay -pair lock-go -variants 0,1,2
//
// It is built by the ablation, from sources that vary.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"culprit/internal/corpus"
	"culprit/lineup/ablate/vary"
)

// Said is what is said of a pair.
type Said struct {
	Told    corpus.Told         `json:"told"`              // as the sources are
	Reached []int               `json:"reached,omitempty"` // the variants that were judged with
	Changed map[int]corpus.Told `json:"changed,omitempty"`
	Failed  map[int]string      `json:"failed,omitempty"`
}

func main() {
	name := flag.String("pair", "", "the pair's name")
	folder := flag.String("corpus", "", "the corpus")
	recordings := flag.String("recordings", "", "an archive of recordings that are compared first")
	variants := flag.String("variants", "", "numbers of variants, with commas between them")
	flag.Parse()
	debug.SetGCPercent(400) // scenes are large and short-lived
	said, err := judgeAll(*folder, *name, *recordings, *variants)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(said)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// replayed is a pair, and the recordings that it is judged from, if any.
type replayed struct {
	pair       *corpus.Pair
	recordings *corpus.Recordings
}

func judgeAll(folder, name, recordings, variants string) (said Said, err error) {
	var r replayed
	if r.pair, err = corpus.Open(filepath.Join(folder, name+corpus.Extension)); err != nil {
		return said, err
	}
	if recordings != "" {
		if r.recordings, err = corpus.OpenRecordings(recordings); err != nil {
			return said, err
		}
	}
	var asked []int
	for _, text := range strings.FieldsFunc(variants, func(c rune) bool { return c == ',' }) {
		v, err := strconv.Atoi(text)
		if err != nil {
			return said, fmt.Errorf("parse -variants: %w", err)
		}
		asked = append(asked, v)
	}
	vary.Start(asked)
	if said.Told, err = r.judge(); err != nil {
		return said, err
	}
	said.Reached, said.Changed, said.Failed = vary.Reached(), map[int]corpus.Told{}, map[int]string{}
	by := map[string]corpus.Told{vary.Order(): said.Told} // verdicts by the order of the rules
	for _, v := range said.Reached {
		fmt.Fprintf(os.Stderr, "variant %d\n", v) // the last one when the program dies of it
		vary.Choose(v)
		order := vary.Order()
		told, known := by[order]
		if order == "" || !known {
			if told, err = r.judge(); err != nil {
				said.Failed[v] = err.Error()
				told = said.Told
			}
			by[order] = told
		}
		if told.String() != said.Told.String() {
			said.Changed[v] = told
		}
		vary.Choose(vary.None)
	}
	again, err := r.judge()
	if err == nil && again.String() != said.Told.String() {
		err = fmt.Errorf("judged again without a variant, %s is %s, and was %s", name, again, said.Told)
	}
	return said, err
}

// judge says what is to be said; a panic is an error.
func (r *replayed) judge() (told corpus.Told, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panics: %v", p)
		}
	}()
	if r.recordings != nil {
		if err := r.pair.Compare(r.recordings); err != nil {
			return told, err
		}
	}
	answer, err := r.pair.Answer()
	if err != nil {
		return told, err
	}
	return corpus.Tell(r.pair.Name, answer, r.pair.Judge(answer)), nil
}
