// Command tagindex reads documents and keeps the distinct tags of each. How
// uniqueTags does that is the only difference between the two builds.
package main

import (
	"flag"
	"fmt"
	"slices"
)

type document struct {
	tags []uint32
}

// readDocument makes a document the way a parser would: tag by tag.
func readDocument(number, tags int) document {
	state := uint32(number)*2654435761 + 1
	doc := document{tags: make([]uint32, 0, tags)}
	for range tags {
		state = state*1664525 + 1013904223
		doc.tags = append(doc.tags, state>>8%uint32(4*tags))
	}
	return doc
}

func scoreDocument(tags []uint32) (score uint64) {
	sorted := slices.Clone(tags)
	slices.Sort(sorted)
	for rank, tag := range sorted {
		score += uint64(tag) * uint64(rank%17)
	}
	return score
}

func main() {
	documents := flag.Int("documents", 11000, "documents to index")
	tags := flag.Int("tags", 400, "tags of each document")
	flag.Parse()
	var score uint64
	for number := range *documents {
		doc := readDocument(number, *tags)
		score += scoreDocument(uniqueTags(doc.tags))
	}
	fmt.Println(score)
}
