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

// addTruth compiles the C programs that tests of a package hold their findings to: the guest has no
// compiler. Tests look for them in testdata/built. Without a compiler for the machine they are left
// out, and their tests fail.
func addTruth(ctx context.Context, guest *machine.Machine, arch machine.Arch, named, built string) error {
	sources, err := filepath.Glob(filepath.Join(named, "testdata", "*.c"))
	if err != nil {
		return err
	}
	compiler, err := exec.LookPath(compilers[arch.Name])
	if err != nil {
		return nil
	}
	for _, source := range sources {
		command := exec.CommandContext(ctx, compiler, "-static", "-O2", "-fomit-frame-pointer", "-pthread", "-o", built,
			source)
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
