package report

import (
	"fmt"

	"culprit/internal/compare"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/stat"
)

// requestNames are what the numbers of requests are called.
var requestNames = map[string]string{units.Latency: "latency, mean", units.Delivery: "with its delivery",
	"p50": "p50", "p95": "p95", "p99": "p99",
	"p99.9": "p99.9", compare.MetricCPU: "CPU of one request", units.Throughput: "requests a second",
	"in_progress": "in progress at once", "cpus": "CPUs busy", "busiest_thread": "busiest thread", "host": "host busy"}

// comparedRequests writes the requests of both sides: what one took, how many there were, and how
// busy that made them.
func (p *page) comparedRequests(c *Comparison) {
	if len(c.Requests) == 0 {
		return
	}
	p.blank()
	fmt.Fprintf(&p.out, "%s %s\n", p.style(fmt.Sprintf("%-*s", labelWidth, "requests"), bold),
		p.style(fmt.Sprintf("  %-19s %10s %10s  %s", "", "A", "B", "B is"), dim))
	for i := range c.Requests {
		p.comparedRequest(&c.Requests[i])
	}
}

func (p *page) comparedRequest(m *explain.RequestMetric) {
	mark, style := "·", dim
	switch m.Outcome {
	case stat.Worse:
		style = orange
	case stat.Better:
		style = blue
	case "":
		mark, style = " ", plain
	}
	if style == orange || style == blue {
		if mark = "▼"; m.Effect.Ratio > 1 {
			mark = "▲"
		}
	}
	a, b := requestNumber(stat.Middle(m.A), m.Unit), requestNumber(stat.Middle(m.B), m.Unit)
	ratio := ""
	if finite(m.Effect.Ratio) {
		ratio = times(m.Effect.Ratio)
		if finite(m.Effect.Low) && finite(m.Effect.High) {
			ratio += fmt.Sprintf(" (%s…%s)", times(m.Effect.Low), times(m.Effect.High))
		}
	}
	p.tableRow(fmt.Sprintf("%s %-19s %10s %10s  %s", mark, requestNames[m.Name], a, b, ratio), style)
}

func requestNumber(value float64, unit string) string {
	switch unit {
	case "s":
		return amount(value, "s")
	case "":
		return percent(value)
	}
	return digits(value)
}
