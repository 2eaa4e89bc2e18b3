package ask

import (
	"fmt"
	"math"
	"slices"

	"culprit/internal/fleet/bands"
)

// BandsFound is the answer to bands: who is in which, and what goes with it.
type BandsFound struct {
	*bands.Answer
	Lasts *Lasts `json:"lasts,omitempty"`
	// Facts go with the band, Frames take more of a request in the dear one.
	Facts  *FactsFound  `json:"facts,omitempty"`
	Frames []Difference `json:"frames"`
	// Separated says whether anything recorded separates the bands.
	Separated bool `json:"separated"`
}

// Lasts says whether hosts stay in their band.
type Lasts struct {
	// Lives are lives of the service's process that are long enough to place; Restarted hosts had
	// several, and Moved of them were in another band after a restart.
	Lives     int `json:"lives"`
	Restarted int `json:"restarted"`
	Moved     int `json:"moved"`
	// Same is the share of hours in which a host was on the side of its band.
	Same  float64 `json:"same"`
	Hours int     `json:"hours"`
}

func (a *asker) bands() error {
	hosts, err := a.chosenHosts()
	if err != nil {
		return err
	}
	input := make([]bands.Host, len(hosts))
	for i, h := range hosts {
		input[i] = bands.Host{Name: h.name, Value: h.value, Load: h.load}
	}
	if a.answer.Unit == cores {
		for i := range input {
			input[i].Load = 0
		}
	}
	a.tell(fmt.Sprintf("fitting one band and two to %d hosts", len(hosts)))
	found, err := bands.Find(input, bands.Options{})
	if err != nil {
		return err
	}
	a.answer.Bands = &BandsFound{Answer: found, Frames: []Difference{}}
	a.each(hosts, bandsOf(found))
	if !found.Two {
		return a.factsBesideOneBand(hosts)
	}
	if a.answer.Bands.Lasts, err = a.lasting(found); err != nil {
		return err
	}
	return a.separate(hosts, found)
}

// factsBesideOneBand asks the facts where bands cannot be told: they see more where hosts of a band
// scatter.
func (a *asker) factsBesideOneBand(hosts []host) error {
	found, err := a.searchFacts(hosts, logs(hosts))
	if err != nil {
		return err
	}
	a.answer.Bands.Facts = found
	a.answer.Bands.Separated = len(found.Findings) > 0
	return nil
}

func logs(hosts []host) []float64 {
	values := make([]float64, len(hosts))
	for i, h := range hosts {
		values[i] = math.Log(h.value)
	}
	return values
}

// separate looks for what goes with the bands: facts, and code.
func (a *asker) separate(hosts []host, found *bands.Answer) error {
	high := map[string]bool{}
	for _, name := range found.High.Hosts {
		high[name] = true
	}
	low := map[string]bool{}
	for _, name := range found.Low.Hosts {
		low[name] = true
	}
	var members []host
	var band []float64
	for _, h := range hosts {
		if high[h.name] || low[h.name] {
			members = append(members, h)
			band = append(band, number(high[h.name]))
		}
	}
	facts, err := a.searchFacts(members, band)
	if err != nil {
		return err
	}
	result := a.answer.Bands
	result.Facts = facts
	if result.Frames, err = a.frames(members, func(h host) bool { return high[h.name] }); err != nil {
		return err
	}
	result.Separated = len(facts.Findings) > 0
	if !result.Separated {
		a.note("no fact that was recorded separates the bands: luck of memory layout is left, look at cache lines")
	}
	dear, cheap := nearest(hosts, high, found.High.Value), nearest(hosts, low, found.Low.Value)
	a.look(a.request.Service, hostWhy{cheap.name, "in the middle of the cheap band", cheap.cgroup},
		hostWhy{dear.name, "in the middle of the dear band", dear.cgroup})
	return nil
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// nearest is the host whose value is next to the band's middle: one at its edge is like none of
// them.
func nearest(hosts []host, of map[string]bool, middle float64) host {
	best := host{}
	least := math.Inf(1)
	for _, h := range hosts {
		if distance := math.Abs(math.Log(h.value / middle)); of[h.name] && distance < least {
			best, least = h, distance
		}
	}
	return best
}

// lasting looks at lives and hours one by one, against the middle between the bands.
func (a *asker) lasting(found *bands.Answer) (*Lasts, error) {
	if a.request.Metric != "" {
		return nil, nil
	}
	middle := math.Sqrt(found.Low.Value * found.High.Value)
	value := func(cpu, requests, length int64) float64 {
		if a.answer.Unit == perRequest {
			return float64(cpu) / float64(requests)
		}
		return float64(cpu) / float64(length)
	}
	a.tell("reading lives of processes, and hours")
	lives, err := a.store.Lives(a.ctx, a.request.Service, a.request.Span)
	if err != nil {
		return nil, err
	}
	lasts := &Lasts{}
	sides := map[string][]bool{}
	for _, life := range lives {
		if v := value(life.SeenCPUNs, life.Requests, life.LengthNs); v > 0 && !math.IsInf(v, 0) && life.Process != "" {
			lasts.Lives++
			sides[life.Host] = append(sides[life.Host], v > middle)
		}
	}
	for _, of := range sides {
		if len(of) > 1 {
			lasts.Restarted++
			if slices.Contains(of, true) && slices.Contains(of, false) {
				lasts.Moved++
			}
		}
	}
	hours, err := a.store.Hours(a.ctx, a.request.Service, a.request.Span)
	if err != nil {
		return nil, err
	}
	band := map[string]bool{}
	for _, name := range found.High.Hosts {
		band[name] = true
	}
	for _, hour := range hours {
		v := value(hour.SeenCPUNs, hour.Requests, hour.LengthNs)
		if !(v > 0) || math.IsInf(v, 0) || slices.Contains(found.Between, hour.Host) {
			continue
		}
		lasts.Hours++
		lasts.Same += number((v > middle) == band[hour.Host])
	}
	lasts.Same /= math.Max(float64(lasts.Hours), 1)
	return lasts, nil
}

// Words say how membership lasts.
func (l *Lasts) Words() string {
	text := fmt.Sprintf("in %.0f %% of %d hours a host was on the side of its band", 100*l.Same, l.Hours)
	switch {
	case l.Restarted == 0:
		return text + "; no process was restarted in this time"
	case l.Moved == 0:
		return text + fmt.Sprintf("; all of %d hosts stayed in it after a restart", l.Restarted)
	}
	return text + fmt.Sprintf("; %d of %d hosts were in the other one after a restart: it lasts for the life of a process",
		l.Moved, l.Restarted)
}
