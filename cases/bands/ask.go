package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"culprit/cases/child"
)

// found is what is looked at of the answer.
type found struct {
	Bands struct {
		Two       bool
		High, Low struct{ Hosts []string }
		Between   []string
	}
	Look []struct{ Host, Why string }
}

// ask puts all windows into a store and asks it, then records what the answer says to look at. It
// is known when the answer is the expected one.
func ask(ctx context.Context, o options, folder string, nodes []*node) (known bool, err error) {
	store := filepath.Join(folder, "store")
	if err := show(ctx, filepath.Join(o.binary, "culprit-hub"), "add", "--store", store,
		filepath.Join(folder, fleetFolder)); err != nil {
		return false, err
	}
	answer := filepath.Join(folder, "bands.json")
	if err := show(ctx, filepath.Join(o.binary, "culprit"), "fleet", "bands", service, "--store", store, "--since", "3h",
		"--json", answer); err != nil {
		return false, err
	}
	text, err := os.ReadFile(answer)
	if err != nil {
		return false, err
	}
	var f found
	if err := json.Unmarshal(text, &f); err != nil {
		return false, err
	}
	for _, look := range f.Look {
		i := slices.IndexFunc(nodes, func(n *node) bool { return n.name == look.Host })
		if i < 0 || !f.Bands.Two {
			continue
		}
		file := filepath.Join(folder, look.Host+".culprit")
		if err := lookAt(ctx, o, file, nodes[i], look.Why); err != nil {
			return false, err
		}
	}
	if o.expect == "one" {
		return !f.Bands.Two, nil
	}
	return truth(nodes, &f), nil
}

// listAt is where the list is in a class of JVM 17, behind its beginning. The cache is the eight
// bytes before it.
const listAt = 0x28

// truth holds the bands against where the class lies in each node: the two words are next to each
// other, and on two cache lines in one of eight places.
func truth(nodes []*node, f *found) (known bool) {
	apart := map[string]bool{}
	count := 0
	for _, n := range nodes {
		apart[n.name] = (n.place+listAt)%64 == 0
		if apart[n.name] {
			count++
		}
	}
	fmt.Printf("\ntruth      the cache and the list are on two cache lines in %d of %d nodes\n", count, len(nodes))
	if !f.Bands.Two {
		return false
	}
	wrong := 0
	for name, is := range apart {
		if is != slices.Contains(f.Bands.Low.Hosts, name) {
			wrong++
		}
	}
	fmt.Printf("           %d of %d nodes are in the band that follows from it\n", len(nodes)-wrong, len(nodes))
	return wrong <= len(f.Bands.Between)
}

// lookAt records a node in full, with debug registers on the lines that threads share.
func lookAt(ctx context.Context, o options, file string, n *node, why string) error {
	fmt.Printf("\n%s, %s\n", n.name, why)
	working, end := context.WithTimeout(ctx, 15*time.Second)
	defer end()
	done := make(chan error, 1)
	go func() { done <- loadWholly(working, n) }()
	err := show(ctx, filepath.Join(o.binary, "culprit"), "record", "-f", "-d", "8s", "-F", "499", "--confirm", "-p",
		fmt.Sprint(n.pid()), "-o", file)
	if failed := <-done; err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	return show(ctx, filepath.Join(o.binary, "culprit"), "explain", file)
}

// show runs a program as somebody would by hand, and prints it. Status 1 is a verdict.
func show(ctx context.Context, program string, words ...string) error {
	fmt.Printf("\n$ %s %s\n", filepath.Base(program), strings.Join(words, " "))
	command := child.Command(ctx, program, words...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	return err
}
