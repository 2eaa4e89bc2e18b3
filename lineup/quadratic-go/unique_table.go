//go:build !scan

package main

//go:noinline
func uniqueTags(tags []uint32) []uint32 {
	seen := make(map[uint32]bool, len(tags))
	unique := tags[:0]
	for _, tag := range tags {
		if !seen[tag] {
			seen[tag] = true
			unique = append(unique, tag)
		}
	}
	return unique
}
