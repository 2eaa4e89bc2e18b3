package cause_test

import (
	"testing"

	"culprit/internal/cause"
	"culprit/internal/corpus"
)

// Each judgement of the corpus is held to the model: see HoldToModel.
func TestCorpusHoldsToTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as judging the corpus")
	}
	files, err := corpus.List(corpusFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(nameOf(file), func(t *testing.T) {
			t.Parallel()
			pair, err := corpus.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			cause.HoldToModel(t, pair.Input)
		})
	}
}
