package record

import (
	"fmt"
	"strings"
	"testing"
)

// Elements of a Java array that two threads divide among themselves have the array's type and their
// number, whatever its header looks like.
func TestNamesOfJavaArrays(t *testing.T) {
	program := programs.compile(t, "Slots.java")
	for _, jvm := range []struct {
		name, release string
		flags         []string
	}{{"17", "17", nil}, {"17, whole words of class", "17", []string{"-XX:-UseCompressedClassPointers"}},
		{"25, compact headers", "25", []string{"-XX:+UseCompactObjectHeaders"}}} {
		t.Run(jvm.name, func(t *testing.T) {
			words := append([]string{javaHome(t, jvm.release) + "/bin/java"}, jvm.flags...)
			words = append(words, "-cp", program, "Slots", "1.5")
			recorder := standing.get(t)
			eventually(t, func() (problems []string) {
				byThread, named, all := map[int32]bool{}, int64(0), int64(0)
				for _, row := range watchCommand(t, recorder, words...).Lines {
					if all += row.Count; row.Name == "(long[])" && strings.HasPrefix(row.Field, "[") {
						named, byThread[row.Tid] = named+row.Count, true
					}
				}
				if len(byThread) != 2 || 2*named < all {
					problems = append(problems, fmt.Sprintf("%d of %d samples have names, of threads %v", named, all, byThread))
				}
				return problems
			})
		})
	}
}
