package dependency

import (
	"testing"

	"culprit/recording"
)

func TestIndex(t *testing.T) {
	x := NewIndex([]recording.Dependency{
		{Kind: "python", Name: "jinja2", Place: "/s/jinja2", Evidence: "ran"},
		{Kind: "python", Name: "jinja2", Place: "/s", Evidence: "installed"},
		{Kind: "program", Name: "main.py", Place: "/a/main.py", Hash: "sha256:00", Evidence: "ran"},
		{Kind: "deb", Name: "zlib1g", Place: "/lib/libz.so.1", Hash: "aa"},
		{Kind: "go", Name: "gopkg.in/yaml.v3", Place: "/b/app", Packages: "gopkg.in/yaml.v3"},
		{Kind: "go", Name: "example.org/app", Place: "/b/app", Packages: "example.org/app main"},
		{Kind: "go", Name: "github.com/Azure/sdk", Place: "/b/app", Packages: "github.com/Azure/sdk"},
		{Kind: "maven", Name: "org.c:lang", Place: "/l.jar", Hash: "sha256:11", Packages: "org.c.lang"},
		{Kind: "crate", Name: "serde-json", Place: "/r", Packages: "serde_json"},
	})
	for _, one := range []struct {
		frame recording.Frame
		name  string
	}{
		{recording.Frame{Kind: "python", Name: "f", File: "/s/jinja2/lexer.py"}, "jinja2"},
		{recording.Frame{Kind: "python", Name: "f", File: "/s/other/lexer.py"}, ""},
		{recording.Frame{Kind: "python", Name: "f", File: "/a/main.py"}, "main.py"},
		{recording.Frame{Kind: "python", Name: "f", File: "main.py"}, ""},
		{recording.Frame{Kind: "native", Name: "inflate", Module: "libz.so.1", BuildID: "aa"}, "zlib1g"},
		{recording.Frame{Kind: "native", Name: "inflate", Module: "libz.so.1", BuildID: "bb"}, ""},
		{recording.Frame{Kind: "go", Name: "gopkg.in/yaml%2ev3.(*parser).next"}, "gopkg.in/yaml.v3"},
		{recording.Frame{Kind: "go", Name: "main.main", File: "/go/pkg/mod/gopkg.in/yaml.v3@v3.0.1/a.go"},
			"gopkg.in/yaml.v3"},
		{recording.Frame{Kind: "go", Name: "x", File: "github.com/!azure/sdk@v1.0.0/a/b.go"}, "github.com/Azure/sdk"},
		{recording.Frame{Kind: "go", Name: "main.main", File: "/src/main.go"}, "example.org/app"},
		{recording.Frame{Kind: "go", Name: "example.org/app/table.Read"}, "example.org/app"},
		{recording.Frame{Kind: "go", Name: "example.org/application.Read"}, ""},
		{recording.Frame{Kind: "jvm", Name: "int org.c.lang.text.S.compare(java.lang.String)"}, "org.c:lang"},
		{recording.Frame{Kind: "jvm", Name: "void org.c.language.S.run()"}, ""},
		{recording.Frame{Kind: "native", Name: "<serde_json::de::D as serde::X>::next", Module: "r"}, "serde-json"},
		{recording.Frame{Kind: "kernel", Name: "serde_json::x"}, ""},
	} {
		got := ""
		if row := x.Of(&one.frame); row != nil {
			got = row.Name
		}
		if got != one.name {
			t.Errorf("%+v: %q, want %q", one.frame, got, one.name)
		}
	}
}
