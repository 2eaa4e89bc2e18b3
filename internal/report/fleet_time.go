package report

import (
	"fmt"
	"strings"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/facts"
	"culprit/internal/fleet/weights"
)

// factNames are the names of one partition; they are told together since nothing tells them apart.
func factNames(names []facts.Name) string {
	const most = 4
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, visible(name.Fact, nameRunesMax)+" "+visible(name.Value, nameRunesMax))
	}
	text := strings.Join(shown, ", the same hosts as ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

func (p *page) fleetChanges(a *ask.Answer) {
	c := a.Changes
	switch {
	case c.Watch == nil:
		p.entry("LEVEL", visible(c.Short, sentenceRunesMax), bold, plain)
	case len(c.Watch.Changes) == 0:
		p.entry("NO CHANGE", fmt.Sprintf("of the level; a step of %s is found within a day in most cases",
			points(c.Watch.Findable)), bold, bold)
	}
	if c.Watch != nil {
		for i, change := range c.Watch.Changes {
			label, style := "DEARER", orange
			if change.Size.Value < 0 {
				label, style = "CHEAPER", blue
			}
			p.entry(label, fmt.Sprintf("%s since %s (95 %% between %s and %s), told at %s", changeWords(change.Size),
				clock(change.At), clock(change.Low), clock(change.High), clock(change.Told)), style, bold)
			for _, together := range c.Together {
				if together.Change == i {
					p.entry("then", fmt.Sprintf("%s on %s", visible(together.What, sentenceRunesMax),
						plural(together.Hosts, "host")), plain, plain)
				}
			}
		}
	}
	for _, rollout := range c.Rollouts {
		text := fmt.Sprintf("version %s from %s on %s: ", visible(rollout.Version, nameRunesMax), utc(rollout.Start),
			plural(rollout.Hosts, "host"))
		style := plain
		switch {
		case rollout.Effect == nil:
			text += visible(rollout.Why, sentenceRunesMax)
		case rollout.Told:
			style = orange
			text += changeWords(rollout.Effect.Change) + " against the old version in the same hours"
		default:
			text += fmt.Sprintf("no sure difference, %s, p = %s", changeWords(rollout.Effect.Change), digits(rollout.Effect.P))
		}
		p.entry("ROLL-OUT", text, style, plain)
	}
}

func clock(at time.Time) string { return at.UTC().Format("2006-01-02 15:04") }

func (p *page) fleetTop(a *ask.Answer) {
	t := a.Top
	p.entry("FLEET", fmt.Sprintf("%s of %s", withUnit(digits(t.Cores), "cores"), visible(a.Service, nameRunesMax)),
		bold, bold)
	if t.PerYear > 0 {
		p.entry("", digits(t.PerYear)+" a year, in the unit of the price", plain, plain)
	}
	for _, list := range []struct {
		label string
		parts []weights.Part
	}{{"OWN CODE", t.Self}, {"WITH CALLS", t.Total}, {"SETTING", t.Values}} {
		if len(list.parts) > 0 {
			p.blank()
		}
		for i, part := range list.parts {
			label := ""
			if i == 0 {
				label = list.label
			}
			who := "most on " + visible(part.Most, nameRunesMax)
			if t.Setting != "" {
				part.Name, who = t.Setting+" = "+part.Name, plural(part.Hosts, "host")
			}
			p.entry(label, fmt.Sprintf("%s (%s to %s), %s: %s, %s", percent(part.Share.Value),
				percent(part.Share.Low), percent(part.Share.High), withUnit(digits(part.Cores.Value), "cores"),
				visible(part.Name, nameRunesMax), who), bold, plain)
		}
	}
}

func (p *page) fleetWorth(a *ask.Answer) {
	w := a.Worth
	p.entry("WORTH", fmt.Sprintf("%s cores (95 %% between %s and %s) over %s", digits(w.Cores.Value), digits(w.Cores.Low),
		digits(w.Cores.High), plural(a.Hosts, "host")), bold, bold)
	p.entry("", fmt.Sprintf("%s takes %s cores (95 %% between %s and %s); its time changes by %s",
		visible(w.What, nameRunesMax), digits(w.Spent.Value), digits(w.Spent.Low), digits(w.Spent.High),
		changeWords(w.Effect)), plain, plain)
	if w.PerYear.Value != 0 {
		p.entry("", fmt.Sprintf("in a year %s (95 %% between %s and %s), in the unit of the price", digits(w.PerYear.Value),
			digits(w.PerYear.Low), digits(w.PerYear.High)), plain, plain)
	}
}
