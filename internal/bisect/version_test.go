package bisect

import (
	"slices"
	"strings"
	"testing"
)

// The orders are those that PEP 440, Semantic Versioning 2.0.0 and Maven's ComparableVersion give
// as examples.
func TestVersionOrder(t *testing.T) {
	for ecosystem, order := range map[string]string{
		pypi: "1.0.dev456 1.0a1 1.0a2.dev456 1.0a2 1.0a12 1.0b1.dev456 1.0b2 1.0rc1.dev456 1.0rc1 1.0 1.0.post456 " +
			"1.1.dev1 1.1 " +
			"1.2.3 1.10 2021.1 1!0.5",
		npm: "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 " +
			"1.2.0 1.10.0",
		crate:  "0.1.0 0.9.12 0.10.0-rc1 0.10.0 1.0.0",
		golang: "v0.9.0 v1.0.0-beta.1 v1.0.0 v1.2.0 v1.10.0",
		maven:  "1.0-alpha-1 1.0-beta-1 1.0-milestone-1 1.0-rc-1 1.0-SNAPSHOT 1.0 1.0-sp 1.1 2.8.9 2.10.0 33.0.0-jre",
	} {
		var want []version
		for _, text := range strings.Fields(order) {
			one, ok := readVersion(ecosystem, text)
			if !ok {
				t.Errorf("%s %s is refused", ecosystem, text)
			}
			want = append(want, one)
		}
		for i := range want {
			for j := range want {
				if order := compareVersions(want[i], want[j]); (order < 0) != (i < j) || (order == 0) != (i == j) {
					t.Errorf("%s: %s against %s is %d", ecosystem, want[i].text, want[j].text, order)
				}
			}
		}
	}
}

func TestVersionsBeforeARelease(t *testing.T) {
	for _, text := range []string{"1.0a1", "1.0rc1", "1.0.dev1", "2.0b3"} {
		if one, ok := readVersion(pypi, text); !ok || !one.pre {
			t.Errorf("%s is no version before a release: %+v", text, one)
		}
	}
	for _, text := range []string{"1.0", "1.0.post1", "1.0-1", "1.0+local"} {
		if one, ok := readVersion(pypi, text); !ok || one.pre {
			t.Errorf("%s is a version before a release: %+v", text, one)
		}
	}
}

// What could be taken for an option or a command is no version.
func TestDirtyVersions(t *testing.T) {
	for _, text := range []string{"", "-1", "--help", "1;true", "$(true)", "1 2", "1\n2", "`x`", "../1", "1/2",
		"latest", "1'",
		strings.Repeat("1", 200), "99999999999999999999.1"} {
		if one, ok := readVersion(npm, text); ok {
			t.Errorf("%q is taken for %+v", text, one)
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, name := range []string{"pypi:ruamel.yaml", "npm:left-pad", "npm:@scope/name", "go:gopkg.in/yaml.v3",
		"go:github.com/BurntSushi/toml", "maven:com.google.guava:guava", "crate:serde_json"} {
		if _, err := openVersions(&Options{Package: name}); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"pyyaml", "pypi:", "pypi:-r", "pypi:a;b", "npm:../x", "npm:@x", "go:--modfile=x",
		"go:a//b",
		"maven:guava", "maven:a:b:c", "crate:$(x)", "gem:rails", "pypi:a b", "npm:a\nb", "pypi:" + strings.Repeat("a", 300)} {
		if _, err := openVersions(&Options{Package: name}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Versions that were typed are a line as they stand.
func TestVersionsAsGiven(t *testing.T) {
	options := Options{Package: "npm:x", Good: "1.0.0", Bad: "2.0.0", Versions: []string{"0.9.0", "1.0.0", "1.1.0",
		"2.0.0"}}
	source, err := openVersions(&options)
	if err != nil {
		t.Fatal(err)
	}
	line, err := source.list(t.Context())
	var names []string
	for _, one := range line {
		names = append(names, one.Name)
	}
	if err != nil || !slices.Equal(names, []string{"1.0.0", "1.1.0", "2.0.0"}) {
		t.Errorf("%v, %v", names, err)
	}
	options.Bad = "0.9.0"
	if _, err := source.list(t.Context()); err == nil || !strings.Contains(err.Error(), "--versions must hold") {
		t.Errorf("%v", err)
	}
}
