package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// The installers call the clients of the registries as they are set up here. Each keeps what it
// downloads below the cache folder. Packages are written as the registry's users write them.

// installPython makes a virtual environment; a package is NAME==VERSION. Nothing else comes along.
func installPython(s side) (files map[string]string, commands []string) {
	return nil, []string{
		`python3 -m venv --without-pip .`,
		`python3 -m pip --python ./bin/python install -q --no-deps --no-compile ` + quoteAll(s.packages),
		`./bin/python -m compileall -q lib || true`, // some packages carry files of other versions of Python
	}
}

// installNode makes a folder with node_modules; a package is NAME@VERSION. What it depends on is as
// old as the date allows, so that it stays the same.
func installNode(s side) (files map[string]string, commands []string) {
	return map[string]string{"package.json": "{\"private\": true}\n"}, []string{
		`npm install --silent --no-audit --no-fund --ignore-scripts --before=` + s.before +
			` --cache ` + quote(filepath.Join(s.cache, "_npm")) + ` ` + quoteAll(s.packages),
	}
}

// installGo builds bin/program; a package is PATH@vVERSION.
func installGo(s side) (files map[string]string, commands []string) {
	var module strings.Builder
	module.WriteString("module program\n\ngo 1.24\n\nrequire (\n")
	for _, text := range s.packages {
		path, version, _ := strings.Cut(text, "@")
		fmt.Fprintf(&module, "\t%s %s\n", path, version)
	}
	module.WriteString(")\n")
	environment := "env GOFLAGS=-modcacherw GOWORK=off GOTOOLCHAIN=local GOMODCACHE=" +
		quote(filepath.Join(s.cache, "_go")) + " "
	// A path of the build folder in the binary would differ between the sides.
	return map[string]string{"go.mod": module.String()}, []string{
		// The tag keeps a program out of culprit's own module: it imports what that does not
		// require.
		"sed '/^\\/\\/go:build ignore$/d' " + quote(s.program) + " > main.go",
		environment + "go mod tidy -e",
		environment + "go build -trimpath -o bin/program .",
	}
}

// installJava makes a folder lib with the jars; a package is GROUP:ARTIFACT:VERSION.
func installJava(s side) (files map[string]string, commands []string) {
	var project strings.Builder
	project.WriteString("<project><modelVersion>4.0.0</modelVersion><groupId>program</groupId>" +
		"<artifactId>program</artifactId><version>1</version>\n<dependencies>\n")
	for _, text := range s.packages {
		parts := append(strings.Split(text, ":"), "", "")
		fmt.Fprintf(&project, "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>"+
			"</dependency>\n", parts[0], parts[1], parts[2])
	}
	project.WriteString("</dependencies></project>\n")
	return map[string]string{"pom.xml": project.String()}, []string{
		"mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib -Dmaven.repo.local=" +
			quote(filepath.Join(s.cache, "_maven")),
	}
}

// installRust builds bin/program; a package is a line of Cargo.toml's table of dependencies.
func installRust(s side) (files map[string]string, commands []string) {
	project := fmt.Sprintf("[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n"+
		"[[bin]]\nname = \"program\"\npath = %q\n\n[profile.release]\ndebug = 1\n\n[dependencies]\n%s\n",
		s.program, strings.Join(s.packages, "\n"))
	return map[string]string{"Cargo.toml": project}, []string{
		"env CARGO_HOME=" + quote(filepath.Join(s.cache, "_cargo")) + " cargo build -q --release",
		"mkdir bin && cp target/release/program bin/ && rm -r target",
	}
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}
