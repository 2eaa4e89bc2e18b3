package changes

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// service is a simulated one: a day's and a week's pattern whose size varies, common noise with
// memory, dips that go away, hosts of different cost that are replaced.
type service struct {
	hosts, days   int
	common, churn float64
	dips          float64 // a month
	step          float64
	at, ramp      int
}

func (s service) draw(seed uint64) *Table {
	random := rand.New(rand.NewPCG(seed, 9))
	hours := s.days * day
	table := &Table{Start: time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)}
	common := s.pattern(random, hours)
	for range s.hosts {
		table.Values = append(table.Values, make([]float32, hours))
	}
	for host := range s.hosts {
		own := 0.05 * random.NormFloat64()
		row := table.Values[host]
		for hour := range hours {
			if random.Float64() < s.churn/day { // another host in its place
				table.Values = append(table.Values, make([]float32, hours))
				for past := range hour {
					row2 := table.Values[len(table.Values)-1]
					row2[past] = row[past]
					row[past] = float32(math.NaN())
				}
				for later := hour; later < hours; later++ {
					table.Values[len(table.Values)-1][later] = float32(math.NaN())
				}
				own = 0.05 * random.NormFloat64()
			}
			row[hour] = float32(common[hour] + own + 0.02*random.NormFloat64())
		}
	}
	return table
}

func (s service) pattern(random *rand.Rand, hours int) []float64 {
	y := make([]float64, hours)
	slow, size := 0.0, 1.0
	for hour := range y {
		if hour%day == 0 {
			size = 1 + 0.15*random.NormFloat64()
		}
		slow = 0.9*slow + s.common*math.Sqrt(1-0.81)*random.NormFloat64()
		angle := 2 * math.Pi * float64(hour) / day
		y[hour] = size*0.03*math.Sin(angle) + 0.01*math.Sin(2*angle+1) + slow
		if hour/day%7 >= 5 {
			y[hour] -= 0.02
		}
		if s.step != 0 && hour >= s.at {
			y[hour] += s.step * math.Min(1, float64(hour-s.at+1)/float64(max(s.ramp, 1)))
		}
	}
	for d := 0.0; d < s.dips*float64(s.days)/30; d++ {
		from, size := random.IntN(hours-12), 0.03+0.03*random.Float64()
		for hour := from; hour < from+2+random.IntN(7); hour++ {
			y[hour] += size
		}
	}
	return y
}

// Dips, days, weeks and hosts that are replaced are no change; the larger simulation is in
// benchmark/fleet.
func TestQuietServicesAreQuiet(t *testing.T) {
	alarms := 0
	for seed := range 12 {
		answer, err := Watch(service{hosts: 12, days: 70, common: 0.003, churn: 0.02, dips: 2}.draw(uint64(seed)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		alarms += len(answer.Changes)
	}
	if alarms > 3 {
		t.Errorf("%d alarms in 12 quiet services over 40 days each", alarms)
	}
}

func TestStepIsFoundAndDated(t *testing.T) {
	found, dated := 0, 0
	const services = 12
	for seed := range services {
		at := 50*day + 7*seed
		s := service{hosts: 20, days: 56, common: 0.002, churn: 0.02, step: 0.03, at: at, ramp: 3}
		table := s.draw(uint64(seed))
		answer, err := Watch(table, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range answer.Changes {
			late := change.Told.Sub(table.Start).Hours() - float64(at)
			if late >= 0 && late <= 26 {
				found++
				truth := table.Start.Add(time.Duration(at) * time.Hour)
				if !change.Low.Add(-3*time.Hour).After(truth) && !change.High.Add(3*time.Hour).Before(truth) &&
					math.Abs(change.Size.Value-0.03) < 0.01 {
					dated++
				}
			}
		}
	}
	if found < services-1 || dated < services-3 {
		t.Errorf("of %d steps of 3 %% %d were found in time and %d dated", services, found, dated)
	}
}

// Hosts of another cost that come are no change of the service, though the mean of who is there
// follows them.
func TestHostsThatComeAreNoChange(t *testing.T) {
	s := service{hosts: 20, days: 50, common: 0.002}
	table := s.draw(3)
	for host := 10; host < 20; host++ {
		for hour := range table.Values[host] {
			table.Values[host][hour] += 0.2
			if hour < 40*day {
				table.Values[host][hour] = float32(math.NaN())
			}
		}
	}
	answer, err := Watch(table, Options{})
	if err != nil || len(answer.Changes) > 0 {
		t.Errorf("%+v, %v", answer, err)
	}
}

// rollout draws one: hosts change over after each other, the first hour after the restart is
// dearer.
func rollout(seed uint64, hosts int, effect float64, warm int) (*Table, []int) {
	random := rand.New(rand.NewPCG(seed, 11))
	table := &Table{Start: time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC)}
	switched := make([]int, hosts)
	common := make([]float64, day+7)
	for hour := range common {
		common[hour] = 0.03 * math.Sin(float64(hour)/4)
	}
	for host := range hosts {
		switched[host] = day + random.IntN(6)
		own, slow := 0.05*random.NormFloat64(), 0.01*random.NormFloat64()
		row := make([]float32, len(common))
		for hour := range row {
			slow = 0.9*slow + 0.01*math.Sqrt(0.19)*random.NormFloat64()
			y := common[hour] + own + slow + 0.02*random.NormFloat64()
			if hour >= switched[host] {
				y += effect
			}
			if hour >= switched[host] && hour < switched[host]+warm {
				y += 0.05
			}
			row[hour] = float32(y)
		}
		table.Values = append(table.Values, row)
	}
	return table, switched
}

func TestRolloutWithinSixHours(t *testing.T) {
	missed, false1, sum := 0, 0, 0.0
	rounds := 100
	if testing.Short() {
		rounds = 30
	}
	for seed := range rounds {
		table, switched := rollout(uint64(seed), 100, 0.02, 1)
		effect, err := CompareRollout(table, switched, RolloutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if sum += effect.Change.Value; effect.P > 1.5e-4 {
			missed++
		}
		table, switched = rollout(uint64(seed), 100, 0, 1)
		if effect, err = CompareRollout(table, switched, RolloutOptions{}); err != nil || effect.P < 2e-3 {
			false1++
		}
	}
	if missed > 2 || false1 > 2 || math.Abs(sum/float64(rounds)-0.02) > 0.002 {
		t.Errorf("of %d roll-outs of 2 %% %d missed; of nothing %d told; mean %.4f", rounds, missed, false1,
			sum/float64(rounds))
	}
}

func TestWhatIsRefused(t *testing.T) {
	if _, err := Watch(&Table{}, Options{}); !errors.Is(err, ErrTooShort) {
		t.Error(err)
	}
	table := service{hosts: 3, days: 31}.draw(1)
	table.Values[1] = table.Values[1][:5]
	if _, err := Watch(table, Options{}); err == nil || !strings.Contains(err.Error(), "host 1") {
		t.Error(err)
	}
	table, switched := rollout(1, 8, 0, 1)
	for name, change := range map[string]func(){
		"six hours before": func() { switched[0] = 2 },
		"hosts of the new": func() {
			for i := range switched {
				switched[i] = Never
			}
			switched[0] = day
		},
		"8 hosts, 7 times": func() { switched = switched[:7] },
	} {
		saved := append([]int{}, switched...)
		change()
		_, err := CompareRollout(table, switched, RolloutOptions{})
		if err == nil || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("%s: %v", name, err)
		}
		switched = saved
	}
}
