package knob

import "time"

const hugePages = "/sys/kernel/mm/transparent_hugepage/"

// findHugePages makes "thp", "thp.defrag", "thp.shmem" and "thp.khugepaged_defrag":
// transparent huge pages. Memory that is mapped already stays as it is, so a
// running target shows the effect only as it maps anew.
func findHugePages(name string, target Target) (Knob, bool, error) {
	about := About{Text: "transparent huge pages", WashOut: 5 * time.Second}
	switch name {
	case "thp":
		return choiceKnob(name, target, hugePages+"enabled", about), true, nil
	case "thp.defrag":
		about.Text += ": whether a page fault waits for one"
		return choiceKnob(name, target, hugePages+"defrag", about), true, nil
	case "thp.shmem":
		about.Text += " of shared memory and tmpfs"
		return choiceKnob(name, target, hugePages+"shmem_enabled", about), true, nil
	case "thp.khugepaged_defrag":
		about.Text += ": whether khugepaged makes room for them"
		knob := fileKnob(name, target, hugePages+"khugepaged/defrag", about)
		knob.offers = offer("0", "1")
		return knob, true, nil
	}
	return Knob{}, false, nil
}

// offer lists the values of a closed set.
func offer(values ...string) func() ([]string, error) {
	return func() ([]string, error) { return values, nil }
}
