package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const sources = "cases/journal/programs"

// programs are what a trial runs.
type programs struct {
	self   string   // this program, which starts both and counts the stalls
	writer string   // the C program
	java   []string // the Java one, up to its arguments
}

// build compiles both and fetches what the Java one needs.
func build(ctx context.Context, folder string) (programs, error) {
	self, err := os.Executable()
	if err != nil {
		return programs{}, err
	}
	writer, classes := filepath.Join(folder, "logwriter"), filepath.Join(folder, "classes")
	config, err := filepath.Abs(filepath.Join(sources, "log4j2.xml"))
	if err != nil {
		return programs{}, err
	}
	jars, err := fetch(ctx)
	if err != nil {
		return programs{}, err
	}
	path := strings.Join(append(jars, classes), ":")
	for _, words := range [][]string{
		{"gcc", "-O2", "-pthread", "-o", writer, filepath.Join(sources, "logwriter.c")},
		{"javac", "-cp", path, "-d", classes, filepath.Join(sources, "LogWriter.java")},
	} {
		if text, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return programs{}, fmt.Errorf("build %s: %w: %s", words[len(words)-1], err, text)
		}
	}
	// Without a memory-mapped file for jstat, whose page could itself wait for a disk (Luu, "The
	// Four Month Bug").
	java := []string{"java", "-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-XX:+PerfDisableSharedMem", "-cp", path, "-Dlog4j2.configurationFile=" + config, "LogWriter"}
	return programs{self: self, writer: writer, java: java}, nil
}

// fetch returns log4j2 out of the user's cache, checked against SHA256SUMS. What is missing Maven
// brings.
func fetch(ctx context.Context) ([]string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(cache, "culprit-journal")
	jars, err := verified(cache)
	if err == nil {
		return jars, nil
	}
	fmt.Fprintf(os.Stderr, "fetching log4j2 with Maven into %s\n", cache)
	command := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", filepath.Join(sources, "pom.xml"),
		"org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy-dependencies", "-DoutputDirectory="+cache)
	if text, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("fetch log4j2: %w: %.400s (it takes Maven and its central repository once; "+
			"afterwards %s is enough)", err, text, cache)
	}
	return verified(cache)
}

// verified lists the files of SHA256SUMS in a folder, or says which one is missing or another.
func verified(folder string) ([]string, error) {
	sums, err := os.ReadFile(filepath.Join(sources, "SHA256SUMS"))
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		path := filepath.Join(folder, name)
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != want {
			return nil, fmt.Errorf("%s has the checksum %s, not %s: remove it", path, got, want)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
