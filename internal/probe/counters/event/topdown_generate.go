//go:build ignore

// Writes topdown_arm.txt, how Arm computes level 1 of the top-down method for each of its Neoverse
// cores, out of the specifications that Arm publishes as data, under Apache 2.0
// (github.com/ARM-software/telemetry-solution):
//
//	go run topdown_generate.go FOLDER
//
// FOLDER is that of data/pmu/cpu/neoverse. STALL_SLOT is by its description the sum of
// STALL_SLOT_FRONTEND and STALL_SLOT_BACKEND: it is replaced by them, so that the events fit the
// counters and the parts add up to one.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cores are the specifications and which cores each is for, by who made it, its part number and
// revision (Arm's own mapping.json; 6D is Microsoft's N2, D83 the V3AE).
var cores = []struct{ name, file, cpus string }{
	{"Neoverse-V1", "neoverse-v1.json", "Arm-41-D40"},
	{"Neoverse-N2", "neoverse-n2.json", "Arm-41-D49-r0p[0-2] Arm-6D-D49-r0p[0-2]"},
	{"Neoverse-N2", "neoverse-n2-r0p3.json", "Arm-41-D49-r0p[3-9] Arm-6D-D49-r0p[3-9]"},
	{"Neoverse-V2", "neoverse-v2.json", "Arm-41-D4F"},
	{"Neoverse-V3", "neoverse-v3.json", "Arm-41-D83 Arm-41-D84"},
	{"Neoverse-N3", "neoverse-n3.json", "Arm-41-D8E"},
}

// shares are the metrics, and what they are called here.
var shares = []struct{ metric, name string }{{"retiring", "retiring"}, {"bad_speculation", "bad-speculation"},
	{"frontend_bound", "frontend-bound"}, {"backend_bound", "backend-bound"}}

type specification struct {
	Document struct {
		Copyright string `json:"copyright"`
		License   string `json:"license"`
		Sha1      string `json:"sha1"`
	} `json:"document"`
	Product struct {
		Slots int `json:"num_slots"`
	} `json:"product_configuration"`
	Events map[string]struct {
		Code string `json:"code"`
	} `json:"events"`
	Metrics map[string]struct {
		Formula string `json:"formula"`
	} `json:"metrics"`
}

const head = `# How Arm computes where the slots of the pipelines of its Neoverse cores go (level 1 of the top-down
# method), and the events' codes, out of Arm's telemetry specifications (github.com/ARM-software/telemetry-solution), by
# topdown_generate.go, which also says what is changed. %s Licensed under the Apache License,
# Version 2.0, as this program is.
`

var eventName = regexp.MustCompile(`[A-Z][A-Z0-9_]+`)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run topdown_generate.go FOLDER")
	}
	var body strings.Builder
	var copyright string
	for _, core := range cores {
		text, err := os.ReadFile(filepath.Join(os.Args[1], core.file))
		if err != nil {
			log.Fatal(err)
		}
		var read specification
		if err := json.Unmarshal(text, &read); err != nil {
			log.Fatalf("%s: %v", core.file, err)
		}
		if read.Document.License != "Apache-2.0" || read.Product.Slots == 0 {
			log.Fatalf("%s: licence %q, %d slots", core.file, read.Document.License, read.Product.Slots)
		}
		copyright = read.Document.Copyright
		fmt.Fprintf(&body, "= %s %s %s\nslots = %d\n", core.name, read.Document.Sha1[:7], core.cpus, read.Product.Slots)
		write(&body, &read)
	}
	out := fmt.Sprintf(head, copyright) + body.String()
	if err := os.WriteFile("topdown_arm.txt", []byte(out), 0o644); err != nil {
		log.Fatal(err)
	}
}

// write writes the formulas of one core and the codes of their events.
func write(body *strings.Builder, read *specification) {
	var names []string
	for _, share := range shares {
		formula := strings.TrimSpace(read.Metrics[share.metric].Formula)
		if formula == "" {
			log.Fatalf("no formula of %s", share.metric)
		}
		formula = regexp.MustCompile(`\bSTALL_SLOT\b`).ReplaceAllString(formula,
			"(STALL_SLOT_FRONTEND + STALL_SLOT_BACKEND)")
		for _, name := range eventName.FindAllString(formula, -1) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		fmt.Fprintf(body, "%s = (%s) / 100\n", share.name, strings.ToLower(formula)) // theirs are in percent
	}
	slices.Sort(names)
	for _, name := range names {
		code, err := strconv.ParseUint(read.Events[name].Code, 0, 16)
		if err != nil {
			log.Fatalf("code of %s: %v", name, err)
		}
		fmt.Fprintf(body, "%s event=%#x\n", strings.ToLower(name), code)
	}
}
