//go:build scan

package main

//go:noinline
func uniqueTags(tags []uint32) []uint32 {
	unique := tags[:0]
next:
	for _, tag := range tags {
		for _, other := range unique {
			if other == tag {
				continue next
			}
		}
		unique = append(unique, tag)
	}
	return unique
}
