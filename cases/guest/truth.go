package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"culprit/cases/guest/machine"
)

// compilers are those of C for each machine.
var compilers = map[string]string{"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}

// addTruth compiles the programs in C and Go that tests of a package hold their findings to: the
// guest has no compiler. Tests look for them in testdata/built. Without a compiler for the machine
// those in C are left out, and their tests fail.
func addTruth(ctx context.Context, guest *machine.Machine, arch machine.Arch, named, built string) error {
	var sources []string
	for _, pattern := range []string{"*.c", "*.go", "*/go.mod"} {
		found, err := filepath.Glob(filepath.Join(named, "testdata", pattern))
		if err != nil {
			return err
		}
		sources = append(sources, found...)
	}
	compiler, err := exec.LookPath(compilers[arch.Name])
	for _, source := range sources {
		source = strings.TrimSuffix(source, "/go.mod")
		command := exec.CommandContext(ctx, compiler, "-static", "-O2", "-fomit-frame-pointer", "-pthread", "-o", built,
			source)
		if filepath.Ext(source) != ".c" {
			command = compileGo(ctx, arch, source, built)
		} else if err != nil {
			continue
		}
		if text, err := command.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "guest: left out %s: %v: %s\n", source, err, text)
			continue
		}
		name := strings.ReplaceAll(filepath.Base(source), ".", "-")
		if err := guest.Add(built, filepath.Join(testFolder(named), "testdata", "built", name)); err != nil {
			return err
		}
		if err := os.Remove(built); err != nil {
			return err
		}
	}
	return nil
}

// compileGo compiles a program of one file, or a module.
func compileGo(ctx context.Context, arch machine.Arch, source, built string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", "build", "-o", built, ".")
	if command.Dir = source; filepath.Ext(source) == ".go" {
		command.Dir = filepath.Dir(source)
		command.Args[len(command.Args)-1] = filepath.Base(source)
	}
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch.Name)
	return command
}
