//go:build ignore

// Writes published.txt.gz, the events that Intel publishes for its CPUs, out of a copy of
// github.com/intel/perfmon:
//
//	git -C perfmon archive HEAD | tar -x -C FOLDER
//	go run published_generate.go FOLDER COMMIT
//
// Left out: events of hybrid CPUs, whose cores have lists of their own, and those that need
// registers which the kernel has no field for.
package main

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run published_generate.go FOLDER COMMIT")
	}
	show := func(path string) string {
		text, err := os.ReadFile(filepath.Join(os.Args[1], path))
		if err != nil {
			log.Fatal(err)
		}
		return string(text)
	}
	rows, err := csv.NewReader(strings.NewReader(show("mapfile.csv"))).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	cpus, versions := map[string][]string{}, map[string]string{}
	for _, row := range rows[1:] {
		if row[3] == "core" {
			cpus[row[2]], versions[row[2]] = append(cpus[row[2]], row[0]), row[1]
		}
	}
	var b strings.Builder
	for line := range strings.Lines(show("LICENSE")) {
		b.WriteString("# " + line)
	}
	fmt.Fprintf(&b, "# Out of github.com/intel/perfmon, commit %s.\n", os.Args[2])
	var files []string
	for file := range cpus {
		files = append(files, file)
	}
	slices.Sort(files)
	for _, file := range files {
		name, _, _ := strings.Cut(strings.TrimPrefix(file, "/"), "/")
		fmt.Fprintf(&b, "= %s %s %s\n", name, versions[file], strings.Join(cpus[file], " "))
		b.WriteString(list(show(strings.TrimPrefix(file, "/"))))
	}
	out, err := os.Create("published.txt.gz")
	if err != nil {
		log.Fatal(err)
	}
	packed, _ := gzip.NewWriterLevel(out, gzip.BestCompression)
	if _, err := packed.Write([]byte(b.String())); err != nil {
		log.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}

// fixed are events that have a counter of their own, as the kernel names them.
var fixed = map[string]string{"inst_retired.any": "event=0xc0", "cpu_clk_unhalted.thread": "event=0x3c",
	"cpu_clk_unhalted.core": "event=0x3c", "cpu_clk_unhalted.ref_tsc": "event=0x0,umask=0x3",
	"topdown.slots": "event=0x0,umask=0x4"}

// registers are those that an event may need beside its own, and the kernel's field for each.
var registers = map[string]string{"0x1a6": "offcore_rsp", "0x1a6,0x1a7": "offcore_rsp", "0x1a7": "offcore_rsp",
	"0x3f6": "ldlat", "0x3f7": "frontend"}

func list(text string) string {
	var events struct{ Events []map[string]any }
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		text = `{"Events":` + text + `}`
	}
	if err := json.Unmarshal([]byte(text), &events); err != nil {
		log.Fatal(err)
	}
	lines := map[string]bool{}
	for _, event := range events.Events {
		field := func(name string) string {
			text, _ := event[name].(string)
			return strings.ToLower(strings.ReplaceAll(text, " ", ""))
		}
		name := field("EventName")
		if name == "" || field("Deprecated") == "1" {
			continue
		}
		terms, known := fixed[name]
		if !known {
			if terms, known = encoding(field); !known {
				continue
			}
		}
		lines[name+" "+terms+"\n"] = true
	}
	var all []string
	for line := range lines {
		all = append(all, line)
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func encoding(field func(string) string) (string, bool) {
	first := func(text string) string { text, _, _ = strings.Cut(text, ","); return text }
	terms := []string{"event=" + first(field("EventCode"))}
	for name, term := range map[string]string{"UMask": "umask", "CounterMask": "cmask", "Invert": "inv",
		"EdgeDetect": "edge", "AnyThread": "any"} {
		value, err := strconv.ParseUint(first(field(name)), 0, 64)
		if err == nil && value != 0 {
			terms = append(terms, fmt.Sprintf("%s=%#x", term, value))
		}
	}
	slices.Sort(terms[1:])
	if value, err := strconv.ParseUint(first(field("MSRValue")), 0, 64); err == nil && value != 0 {
		register, known := registers[field("MSRIndex")]
		if !known {
			return "", false
		}
		terms = append(terms, fmt.Sprintf("%s=%#x", register, value))
	}
	return strings.Join(terms, ","), strings.HasPrefix(terms[0], "event=0x")
}
