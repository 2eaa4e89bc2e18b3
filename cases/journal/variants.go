package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// programNames are the two that log, as metrics and tables call them.
var programNames = []string{"C", "Java"}

// variant is one level of one factor, all others at their baseline.
type variant struct {
	label, factor, level string
	published            string // share of calls over the limit in the published table, "" when it had none
	from                 string // the baseline's level of the factor
}

const (
	flushName = "vm.dirty_expire_centisecs+vm.dirty_writeback_centisecs"
	flushFast = "80+80" // 0.8 s, as published
)

// baseline is ext4 as it is, with the host's flush settings, each line written by the thread that
// logs it.
var baseline = variant{"ext4 as it is", "ground", "ext4@slow", "0.202 %", ""}

// others are the published variants and three more file systems.
var others = []variant{
	{"flush after 0.8 s", flushName, flushFast, "0.017 %", ""},
	{"data=writeback", "ground", "ext4:data=writeback@slow", "0 %", "ext4@slow"},
	{"no journal", "ground", "ext4:^has_journal@slow", "0 %", "ext4@slow"},
	{"lazytime", "ground", "ext4:lazytime@slow", "", "ext4@slow"},
	{"xfs", "ground", "xfs@slow", "0.06 %", "ext4@slow"},
	{"btrfs", "ground", "btrfs@slow", "", "ext4@slow"},
	{"asynchronous", "appender", "Async", "0 %", "File"},
}

// choose leaves out what this host has no tools for, and says so.
func choose(quick bool) ([]variant, error) {
	chosen := []variant{baseline}
	for _, v := range others {
		if quick && v.label != "xfs" && v.label != "asynchronous" {
			continue
		}
		if v.level == "btrfs@slow" {
			if _, err := exec.LookPath("mkfs.btrfs"); err != nil {
				fmt.Println("without btrfs: mkfs.btrfs is missing (apt-get install btrfs-progs)")
				continue
			}
		}
		if v.factor == flushName {
			now, err := flushNow()
			if err != nil {
				return nil, err
			}
			if now == flushFast {
				return nil, fmt.Errorf("%s is %s on this host already: there is no baseline", flushName, now)
			}
			v.from = now
		}
		chosen = append(chosen, v)
	}
	return chosen, nil
}

// flushNow is how the host has it.
func flushNow() (string, error) {
	var values []string
	for _, name := range strings.Split(flushName, "+") {
		text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
		if err != nil {
			return "", err
		}
		values = append(values, strings.TrimSpace(string(text)))
	}
	return strings.Join(values, "+"), nil
}

// factors are the words that vary all of them; the baseline's level is the first of each.
func factors(variants []variant) []string {
	levels := map[string][]string{}
	var order []string
	for _, v := range variants[1:] {
		if levels[v.factor] == nil {
			levels[v.factor] = []string{v.from}
			order = append(order, v.factor)
		}
		levels[v.factor] = append(levels[v.factor], v.level)
	}
	words := []string{"--washout", "0s"} // each trial has a fresh file system: nothing to wash out
	for _, name := range order {
		words = append(words, "--vary", name+"="+strings.Join(levels[name], ","))
	}
	return words
}

// of finds the variant whose levels a trial had: the first is the baseline.
func of(variants []variant, levels map[string]string) int {
	found := slices.IndexFunc(variants[1:], func(v variant) bool { return levels[v.factor] == v.level })
	return found + 1
}
