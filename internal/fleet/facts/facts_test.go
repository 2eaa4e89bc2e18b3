package facts

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// table draws facts as fleets have them: families that change together, with strays, alone ones,
// own names, numbers.
func table(n int, random *rand.Rand) []Fact {
	var facts []Fact
	add := func(name string, value func(host int) string) {
		fact := Fact{Name: name, Values: make([]string, n)}
		for host := range n {
			fact.Values[host] = value(host)
		}
		facts = append(facts, fact)
	}
	shares := []float64{0.05, 0.1, 0.2, 0.3, 0.5}
	for family := range 15 {
		of := make([]int, n)
		for host := range n {
			if random.Float64() < shares[family%len(shares)] {
				of[host] = 1
			}
		}
		for member := range 1 + family%6 {
			add(fmt.Sprintf("family%d.%d", family, member), func(host int) string { return fmt.Sprint("v", of[host]) })
		}
	}
	for i := range 25 {
		add(fmt.Sprint("alone", i), func(int) string { return fmt.Sprint(random.IntN(3)) })
	}
	add("number", func(int) string { return fmt.Sprint(random.IntN(500)) })
	add("name", func(host int) string { return fmt.Sprint("host", host) })
	add("same", func(int) string { return "x" })
	return facts
}

func TestNothingBehindIt(t *testing.T) {
	told := 0
	for seed := range 120 {
		random := rand.New(rand.NewPCG(uint64(seed), 3))
		values := make([]float64, 40)
		for i := range values {
			values[i] = 0.05 * random.NormFloat64()
		}
		answer, err := Search(values, table(40, random), Options{Permutations: 199, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Findings) > 0 {
			told++
		}
		if answer.Left < 2 {
			t.Errorf("%d facts left out: a host's own name and what all have alike are", answer.Left)
		}
	}
	if told > 13 {
		t.Errorf("a fact was named in %d of 120 fleets without one", told)
	}
}

// The fact that explains a band is first, with all its names, whatever the strata do.
func TestTrueFactIsFirst(t *testing.T) {
	first := 0
	for seed := range 40 {
		random := rand.New(rand.NewPCG(uint64(seed), 4))
		const n = 60
		values, zones := make([]float64, n), make([]string, n)
		facts := table(n, random)
		setting := Fact{Name: "vm.setting", Values: make([]string, n)}
		for i := range n {
			zones[i] = fmt.Sprint("zone", i%3)
			values[i] = 0.05*random.NormFloat64() + 0.4*float64(i%3)
			setting.Values[i] = "off"
			if i < 8 {
				values[i] += math.Log(1.3)
				setting.Values[i] = "on"
			}
		}
		twin := Fact{Name: "twin", Values: setting.Values}
		facts = append(facts, setting, twin, Fact{Name: "zone", Values: zones})
		answer, err := Search(values, facts, Options{Permutations: 199, Seed: uint64(seed), Strata: zones})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Findings) == 0 {
			continue
		}
		f := answer.Findings[0]
		if f.Facts[0].Fact == "vm.setting" && f.Facts[len(f.Facts)-1].Fact == "twin" {
			first++
			if f.Facts[0].Value != "= on" || math.Abs(f.Effect-math.Log(1.3)) > 0.1 || f.P > 0.05 {
				t.Errorf("effect %.3f of %s, p %.3f", f.Effect, f.Facts[0].Value, f.P)
			}
		}
	}
	if first < 38 {
		t.Errorf("the true fact is first in %d of 40", first)
	}
}

func TestNumberIsCutWhereItMatters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n = 50
	values := make([]float64, n)
	fact := Fact{Name: "memory", Values: make([]string, n)}
	for i := range n {
		memory := 8 * (1 + i%16)
		fact.Values[i] = fmt.Sprint(memory)
		values[i] = 0.05 * random.NormFloat64()
		if memory >= 64 {
			values[i] += 0.2
		}
	}
	answer, err := Search(values, []Fact{fact}, Options{})
	if err != nil || len(answer.Findings) == 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
	if f := answer.Findings[0]; f.Facts[0].Value != "≥ 64" || math.Abs(f.Effect-0.2) > 0.05 {
		t.Errorf("%+v", f)
	}
}

// Two names of one partition say which side they mean.
func TestNamesOfTheOtherSide(t *testing.T) {
	values := []float64{1, 1.1, 0.9, 5, 5.1, 4.9, 5, 5.05}
	facts := []Fact{{"a", strings.Split("x x x y y y y y", " ")}, {"c", strings.Split("z z z 1 2 3 4 5", " ")},
		{"b", []string{"", "", "", "1", "1", "1", "1", "1"}}}
	answer, err := Search(values, facts, Options{})
	if err != nil || answer.Partitions != 1 {
		t.Fatalf("%+v, %v", answer, err)
	}
	all := append(answer.Findings, answer.Nearest...)
	got := fmt.Sprint(all[0].Facts, all[0].With, all[0].Without, all[0].Effect > 3)
	if want := "[{a = y} {b = 1} {c not = z}] [3 4 5 6 7] 3 true"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWhatSearchRefuses(t *testing.T) {
	if _, err := Search(make([]float64, 5), nil, Options{}); !errors.Is(err, ErrTooFew) {
		t.Error(err)
	}
	for name, values := range map[string][]float64{"NaN": {1, 2, 3, 4, 5, math.NaN()}, "short": {1, 2, 3, 4, 5, 6, 7}} {
		if _, err := Search(values, []Fact{{"a", make([]string, 6)}}, Options{}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if answer, err := Search(make([]float64, 8), []Fact{{"a", make([]string, 8)}}, Options{}); err != nil ||
		answer.Partitions != 0 {
		t.Errorf("equal hosts: %+v, %v", answer, err)
	}
}
