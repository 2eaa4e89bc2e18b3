package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/store"
	"culprit/internal/stat"
)

// Windows that 'go run ./cases/fleet' made are put into DuckDB and into two ClickHouse servers as
// two shards, and each question is asked of both: windows and rows a second, bytes a window, median
// and longest time of a question. It holds nothing against a limit; docs/guide/fleet.md has the
// commands and figures.
//
//	CULPRIT_FLEET=/tmp/windows go test -run TestMeasureFleet -v -timeout 2h .
func TestMeasureFleet(t *testing.T) {
	from := os.Getenv("CULPRIT_FLEET")
	if from == "" {
		t.Skip("measures: CULPRIT_FLEET is a directory that 'go run ./cases/fleet' has filled")
	}
	files, err := recordings([]string{from})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("duckdb", func(t *testing.T) {
		directory := t.TempDir()
		engine, err := openDuck(t.Context(), directory, "")
		if err != nil {
			t.Fatal(err)
		}
		measureFleet(t, engine, directory, files, []string{filepath.Join(directory, databaseFile)})
	})
	t.Run("shards", func(t *testing.T) {
		servers, dsn := startServers(t, 2)
		directory := t.TempDir()
		var data []string
		for _, one := range servers {
			data = append(data, filepath.Join(one.directory, "data"))
		}
		measureFleet(t, engineOf(t, dsn, directory), directory, files, data)
	})
}

// measureFleet fills one engine and asks it.
func measureFleet(t *testing.T, engine store.Engine, directory string, files, data []string) {
	s, err := store.Open(t.Context(), directory, engine, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begun, used := time.Now(), cpuTime()
	for _, err := range inParallel(files, func(file string) error {
		_, err := addOne(t.Context(), s, file)
		return err
	}) {
		t.Error(err)
	}
	took, cpu := time.Since(begun).Seconds(), (cpuTime() - used).Seconds()
	windows := float64(len(files))
	services, err := s.Asking().Services(t.Context())
	if err != nil || len(services) != 1 {
		t.Fatalf("%+v, %v", services, err)
	}
	samples := countOf(t, engine, "samples")
	if err := s.Forget(t.Context(), time.Unix(0, 0)); err != nil { // nothing; DuckDB writes its log into the file then
		t.Fatal(err)
	}
	kept := bytesBelow(t, data...)
	t.Logf("%.0f windows of %d hosts: %.0f a second, %.1f ms of the hub's CPU time each", windows, services[0].Hosts,
		windows/took, 1000*cpu/windows)
	t.Logf("%.0f rows of samples, %.0f a second", samples, samples/took)
	t.Logf("a window: %.1f KB of rows, %.1f KB of files", kept/windows/1000,
		bytesBelow(t, filepath.Join(directory, "raw"))/windows/1000)
	effect := stat.Interval{Value: -0.2, Low: -0.24, High: -0.16}
	for _, question := range []string{ask.Bands, ask.Facts, ask.Changes, ask.Top, ask.Worth} {
		var all []time.Duration
		for range 20 {
			begun := time.Now()
			_, err := ask.Ask(t.Context(), s, ask.Request{Question: question, Service: services[0].Name, Effect: &effect,
				Span: store.Span{From: services[0].First, Until: services[0].Last + 60}})
			if all = append(all, time.Since(begun)); err != nil {
				t.Logf("%s: %v", question, err)
			}
		}
		slices.Sort(all)
		t.Logf("%-8s median %.2f s, p95 %.2f s of %d", question, all[len(all)/2].Seconds(), all[len(all)*95/100].Seconds(),
			len(all))
	}
}

func cpuTime() time.Duration {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func countOf(t *testing.T, engine store.Engine, table string) float64 {
	found, missing, err := engine.Query(t.Context(), "SELECT count(*) FROM "+table)
	if err != nil || len(missing) > 0 {
		t.Fatal(missing, err)
	}
	defer found.Close()
	count := int64(0)
	for found.Next() {
		if err := found.Scan(&count); err != nil {
			t.Fatal(err)
		}
	}
	return float64(count)
}

// bytesBelow is what files take together; those that are merged away meanwhile are left out.
func bytesBelow(t *testing.T, paths ...string) float64 {
	total := int64(0)
	for _, path := range paths {
		if err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				total += info.Size()
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return float64(total)
}
