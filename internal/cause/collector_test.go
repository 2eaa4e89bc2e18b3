package cause

import "testing"

func TestCollectorOptions(t *testing.T) {
	for _, c := range []struct {
		name, a, b, factA, factB string
		wantA, wantB             string
	}{
		{"a smaller heap", "java -Xmx1g Main", "java -XX:+UseSerialGC '-Xmx64m' Main", "", "", "-Xmx1g",
			"-XX:+UseSerialGC -Xmx64m"},
		{"the same", "node --max-old-space-size=64 x.js", "node --max-old-space-size=64 x.js", "", "", "",
			""},
		{"hidden in scripts", "/srv/old.sh", "/srv/new.sh", "java -jar x.jar", "java -Xmn2m -jar x.jar", "", "-Xmn2m"},
		{"one process was over too soon to be read", "/srv/old.sh", "/srv/new.sh", "", "java -Xmn2m -jar x.jar", "", ""},
		{"options of something else", "java -Xss1m Main", "java -Xint Main", "", "", "", ""},
	} {
		s := &scene{commandA: c.a, commandB: c.b, factsA: map[string]string{"target.command": c.factA},
			factsB: map[string]string{"target.command": c.factB}}
		if a, b := s.collectorOptions(); a != c.wantA || b != c.wantB {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, a, b, c.wantA, c.wantB)
		}
	}
}
