//go:build ignore

// Writes libpfm.txt.gz, the events of AMD's Zen cores and of 64-bit cores of Arm and its licensees,
// out of the tables of libpfm4 (perfmon2.sourceforge.net), as Debian's source package has them:
//
//	apt-get source --download-only libpfm4 && tar xf libpfm4_*.orig.tar.xz
//	go run libpfm_generate.go FOLDER VERSION
//
// FOLDER is that of COPYING. A part of an event has the name of both, with a dot:
// "retired_sse_avx_flops.any". Left out: AMD's cores before Zen, whose events differ from one
// stepping to the next, and counters outside of the cores.
package main

import (
	"compress/gzip"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lists are the files, which CPUs each is for (by pfmlib_amd64.c, pfmlib_arm_armv8.c and
// pfmlib_arm_armv9.c; an Arm core by who made it and its part number) and what the list is called.
var lists = []struct{ name, file, cpus string }{
	{"Zen1", "amd64_events_fam17h_zen1.h", "AuthenticAMD-17-? AuthenticAMD-17-[12]?"},
	{"Zen2", "amd64_events_fam17h_zen2.h", "AuthenticAMD-17-[3-9A-F]?"},
	{"Zen3", "amd64_events_fam19h_zen3.h", "AuthenticAMD-19-? AuthenticAMD-19-[2-5]?"},
	{"Zen4", "amd64_events_fam19h_zen4.h", "AuthenticAMD-19-[16-9A-F]?"},
	{"Zen5", "amd64_events_fam1ah_zen5.h", "AuthenticAMD-1A-? AuthenticAMD-1A-[12467]?"}, // the others are Zen 6
	{"Cortex-A53", "arm_cortex_a53_events.h", "Arm-41-D03"},
	{"Cortex-A55", "arm_cortex_a55_events.h", "Arm-41-D05"},
	{"Cortex-A57-A72", "arm_cortex_a57_events.h", "Arm-41-D07 Arm-41-D08"},
	{"Cortex-A76", "arm_cortex_a76_events.h", "Arm-41-D0B"},
	{"Neoverse-N1", "arm_neoverse_n1_events.h", "Arm-41-D0C"},
	{"Neoverse-V1", "arm_neoverse_v1_events.h", "Arm-41-D40"},
	{"Neoverse-N2", "arm_neoverse_n2_events.h", "Arm-41-D49"},
	{"Neoverse-V2", "arm_neoverse_v2_events.h", "Arm-41-D4F"},
	{"Neoverse-V3", "arm_neoverse_v3_events.h", "Arm-41-D84"},
	{"Neoverse-N3", "arm_neoverse_n3_events.h", "Arm-41-D8E"},
	{"ThunderX2", "arm_cavium_tx2_events.h", "Arm-42-516 Arm-43-AF"},
	{"A64FX", "arm_fujitsu_a64fx_events.h", "Arm-46-1"},
	{"Monaka", "arm_fujitsu_monaka_events.h", "Arm-46-3"},
	{"Kunpeng", "arm_hisilicon_kunpeng_events.h", "Arm-48-D01"},
	{"X-Gene", "arm_xgene_events.h", "Arm-50-0"},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run libpfm_generate.go FOLDER VERSION")
	}
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(os.Args[1], path))
		if err != nil {
			log.Fatal(err)
		}
		return string(text)
	}
	licence, holders := read("COPYING"), map[string]bool{}
	var body strings.Builder
	for _, each := range lists {
		text := read("lib/events/" + each.file)
		for _, found := range holder.FindAllStringSubmatch(text, -1) {
			holders[strings.TrimSpace(found[1])] = true
		}
		lines := events(text)
		if want := strings.Count(text, ".name"); want < 30 || len(lines) < want && !strings.Contains(text, ".umasks") {
			log.Fatalf("%s has %d events, %d were found", each.file, want, len(lines))
		}
		fmt.Fprintf(&body, "= %s %s %s\n%s", each.name, os.Args[2], each.cpus, strings.Join(lines, ""))
	}
	for _, name := range sorted(holders) {
		licence = name + "\n" + licence
	}
	write("LICENSE.libpfm", licence)
	var b strings.Builder
	for line := range strings.Lines(licence) {
		b.WriteString("# " + strings.TrimRight(line, "\n") + "\n")
	}
	fmt.Fprintf(&b, "# Out of Debian's source package libpfm4, %s.\n%s", os.Args[2], body.String())
	pack("libpfm.txt.gz", b.String())
}

var (
	// holder finds who owns the copyright of a file.
	holder = regexp.MustCompile(`(?m)^ \*\s+(?:SPDX-FileCopyrightText: )?(Copyright \(c\) .*)$`)
	// table and entry take the tables of C structs apart; a description may hold braces.
	table = regexp.MustCompile(`(?ms)^static const \w+ (\w+)\s*\[\s*\]\s*=\s*\{\n(.*?)^\};`)
	entry = regexp.MustCompile(`(?ms)\{\s*\.u?name\s*=\s*"([^"]+)"(.*?)\n\s*\},?\s*$`)
	code  = regexp.MustCompile(`\.u?code\s*=\s*(0x[0-9a-fA-F]+|\d+)`)
	parts = regexp.MustCompile(`\.umasks\s*=\s*(\w+)`)
)

// events are the lines of one file: name and terms of the kernel's PMU.
func events(text string) []string {
	tables, last := map[string]string{}, ""
	for _, found := range table.FindAllStringSubmatch(text, -1) {
		tables[found[1]], last = found[2], found[1]
	}
	lines := map[string]bool{}
	add := func(name, terms string) { lines[strings.ToLower(name)+" "+terms+"\n"] = true }
	for _, found := range entry.FindAllStringSubmatch(tables[last], -1) {
		name, terms := found[1], "event="+number(found[2])
		of := parts.FindStringSubmatch(found[2])
		if of == nil {
			add(name, terms)
			continue
		}
		if tables[of[1]] == "" {
			log.Fatalf("%s has its parts in %s, which is not there", name, of[1])
		}
		for _, part := range entry.FindAllStringSubmatch(tables[of[1]], -1) {
			its := terms + ",umask=" + number(part[2])
			add(name+"."+part[1], its)
			if strings.Contains(part[2], "AMD64_FL_DFL") {
				add(name, its)
			}
		}
	}
	return sorted(lines)
}

func number(text string) string {
	found := code.FindStringSubmatch(text)
	if found == nil {
		log.Fatalf("no code in %s", text)
	}
	value, err := strconv.ParseUint(found[1], 0, 64)
	if err != nil {
		log.Fatal(err)
	}
	return fmt.Sprintf("%#x", value)
}

func sorted(all map[string]bool) []string {
	var list []string
	for each := range all {
		list = append(list, each)
	}
	slices.Sort(list)
	return list
}

func write(name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

func pack(name, text string) {
	out, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	packed, _ := gzip.NewWriterLevel(out, gzip.BestCompression) // fails only on a level that is none
	if _, err := packed.Write([]byte(text)); err != nil {
		log.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}
