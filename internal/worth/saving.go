package worth

import "fmt"

// hoursPerYear is of a mean Gregorian year.
const hoursPerYear = 365.2425 * 24

// Saving is what the change gives at the loads that really occur: positive saves, negative costs.
type Saving struct {
	Loads   []Load   `json:"loads"`
	PerHost Interval `json:"per_host"` // in the metric's unit
	// Relative to the side without the change; nil where that side takes nothing.
	Relative *Interval `json:"relative,omitempty"`
	Verdict  string    `json:"verdict"` // better: it saves
	Fleet    *Fleet    `json:"fleet,omitempty"`
}

// Fleet is the saving of all hosts together.
type Fleet struct {
	Hosts         float64   `json:"hosts"`
	Cores         Interval  `json:"cores"`
	MoneyPerYear  *Interval `json:"money_per_year,omitempty"`
	EnergyPerYear *Interval `json:"kwh_per_year,omitempty"`
}

// weighSaving takes for each block the difference at each load that occurs, weighted by its share.
func weighSaving(blocks []block, q question, options Options) (*Saving, error) {
	loads, err := normal(options.Loads, q)
	if err != nil {
		return nil, err
	}
	var savings, parts []float64
	for _, block := range blocks {
		differences := make([]float64, len(q.loads))
		for i := range q.loads {
			differences[i] = block.difference(i, q.metric.Higher)
		}
		saved, base := 0.0, 0.0
		for _, load := range loads {
			saved -= load.Share * between(q.loads, differences, load.Load)
			base += load.Share * between(q.loads, block.a, load.Load)
		}
		if finite(saved) && finite(base) { // else a trial near one of the loads is missing
			savings, parts = append(savings, saved), append(parts, saved/base)
		}
	}
	if len(savings) < 2 {
		return nil, fmt.Errorf("%d blocks hold the trials around all loads that occur; two are needed", len(savings))
	}
	s := &Saving{Loads: loads, Verdict: Undecided}
	if s.PerHost, err = mean(savings); err != nil {
		return nil, err
	}
	if relative, err := mean(parts); err == nil {
		s.Relative = &relative
	}
	switch {
	case s.PerHost.Low > 0:
		s.Verdict = Better
	case s.PerHost.High < 0:
		s.Verdict = Worse
	}
	if options.Hosts > 0 {
		s.Fleet, err = fleet(s.PerHost, q, options)
	}
	return s, err
}

// normal checks the loads and makes their shares add up to 1; without any, each load that was tried
// counts the same.
func normal(loads []Load, q question) ([]Load, error) {
	if len(loads) == 0 {
		for _, load := range q.loads {
			loads = append(loads, Load{load, 1})
		}
	}
	sum := 0.0
	for _, load := range loads {
		if load.Share <= 0 || !finite(load.Share) {
			return nil, fmt.Errorf("load %g has the share %g; give a positive one", load.Load, load.Share)
		}
		if !(load.Load >= q.loads[0] && load.Load <= q.loads[len(q.loads)-1]) {
			return nil, fmt.Errorf("load %g was not tried: the experiment went from %g to %g; sweep %s further", load.Load,
				q.loads[0], q.loads[len(q.loads)-1], q.load.Name)
		}
		sum += load.Share
	}
	shares := make([]Load, len(loads))
	for i, load := range loads {
		shares[i] = Load{load.Load, load.Share / sum}
	}
	return shares, nil
}

func fleet(perHost Interval, q question, options Options) (*Fleet, error) {
	if q.metric.Name != cores {
		return nil, fmt.Errorf("the saving of a fleet is counted in cores; leave --metric out or give --metric cores, not %s",
			q.metric.Name)
	}
	f := &Fleet{Hosts: options.Hosts, Cores: times(perHost, options.Hosts)}
	perCoreYear := options.PerCoreHour * hoursPerYear
	if options.WattsPerCore > 0 {
		energy := times(f.Cores, options.WattsPerCore/1000*hoursPerYear)
		f.EnergyPerYear = &energy
		perCoreYear += options.WattsPerCore / 1000 * hoursPerYear * options.PerKilowattHour
	}
	if perCoreYear > 0 {
		money := times(f.Cores, perCoreYear)
		f.MoneyPerYear = &money
	}
	return f, nil
}

func times(interval Interval, factor float64) Interval {
	return Interval{interval.Value * factor, interval.Low * factor, interval.High * factor}
}
