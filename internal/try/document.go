package try

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// document is an experiment as people write it, in YAML. docs/reference/experiment.schema.json
// describes it for editors; a test holds the two together.
type document struct {
	Command  words            `yaml:"command"`
	Vary     []varied         `yaml:"vary"`
	Design   Design           `yaml:"design"`
	Control  bool             `yaml:"control"`
	Trials   int              `yaml:"trials"`
	Budget   duration         `yaml:"budget"`
	Timeout  duration         `yaml:"timeout"`
	Seed     int64            `yaml:"seed"`
	Metrics  []string         `yaml:"metrics"`
	Smallest part             `yaml:"smallest"`
	WashOut  *duration        `yaml:"wash_out"`
	Latency  *latencyDocument `yaml:"latency"`
	Service  *serviceDocument `yaml:"service"`
}

type varied struct {
	Name     string  `yaml:"name"`
	Levels   []named `yaml:"levels"`
	Negative bool    `yaml:"negative"`
}

type latencyDocument struct {
	Format      string    `yaml:"format"`
	File        string    `yaml:"file"`
	Field       string    `yaml:"field"`
	Time        string    `yaml:"time"`
	Due         string    `yaml:"due"`
	Unit        string    `yaml:"unit"`
	Limit       string    `yaml:"limit"`
	Percentiles []float64 `yaml:"percentiles"`
}

type serviceDocument struct {
	Pid     int       `yaml:"pid"`
	Cgroup  string    `yaml:"cgroup"`
	Measure string    `yaml:"measure"`
	Counter bool      `yaml:"counter"`
	Period  duration  `yaml:"period"`
	WashOut *duration `yaml:"wash_out"`
}

// words are a command: a text for the shell, or a list of words.
type words Command

func (w *words) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode(&w.Words)
	}
	return node.Decode(&w.Shell)
}

// named is a level: a value, or a name with a value.
type named Level

func (n *named) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		// As it is written: 010 and yes are values of settings, not numbers and truths.
		n.Name, n.Value = node.Value, node.Value
		return nil
	}
	var level struct {
		Name  string    `yaml:"name"`
		Value yaml.Node `yaml:"value"`
	}
	if err := strict(node, &level); err != nil {
		return err
	}
	if level.Name == "" || level.Value.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a level is a value, or a name and a value", node.Line)
	}
	n.Name, n.Value = level.Name, level.Value.Value
	return nil
}

// strict decodes a node and refuses fields that are not known, which Node.Decode would pass over.
func strict(node *yaml.Node, into any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	return decoder.Decode(into)
}

type duration time.Duration

func (d *duration) UnmarshalYAML(node *yaml.Node) error {
	value, err := time.ParseDuration(node.Value)
	if err != nil || node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: %q is no time; write for example 60s", node.Line, node.Value)
	}
	*d = duration(value)
	return nil
}

type part float64

func (p *part) UnmarshalYAML(node *yaml.Node) error {
	value, err := ParsePart(node.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	*p = part(value)
	return nil
}

// ParsePart reads "2%" or "0.02".
func ParsePart(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: give a percentage such as 2%%", text)
	}
	if percent {
		value /= 100
	}
	return value, nil
}

// maxDescription bounds a file that describes an experiment.
const maxDescription = 1 << 20

// Read reads an experiment from YAML. It refuses fields that it does not know.
func Read(in io.Reader) (Experiment, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxDescription+1))
	if err != nil {
		return Experiment{}, fmt.Errorf("read experiment: %w", err)
	}
	if len(text) > maxDescription {
		return Experiment{}, fmt.Errorf("read experiment: larger than %d bytes", maxDescription)
	}
	var read document
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&read); errors.Is(err, io.EOF) {
		return Experiment{}, errors.New("read experiment: nothing is in it")
	} else if err != nil {
		return Experiment{}, fmt.Errorf("read experiment: %w", err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Experiment{}, errors.New("read experiment: something follows its end")
	}
	return read.experiment()
}

func (d document) experiment() (Experiment, error) {
	e := Experiment{Command: Command(d.Command), Design: d.Design, Control: d.Control, Trials: d.Trials,
		Budget: time.Duration(d.Budget), Timeout: time.Duration(d.Timeout), Seed: d.Seed, Smallest: float64(d.Smallest)}
	if d.WashOut != nil {
		wait := time.Duration(*d.WashOut)
		e.WashOut = &wait
	}
	for _, varied := range d.Vary {
		factor := Factor{Name: varied.Name, Negative: varied.Negative}
		for _, level := range varied.Levels {
			factor.Levels = append(factor.Levels, Level(level))
		}
		e.Factors = append(e.Factors, factor)
	}
	for _, text := range d.Metrics {
		metric, err := ParseMetric(text)
		if err != nil {
			return e, err
		}
		e.Metrics = append(e.Metrics, metric)
	}
	if d.Latency != nil {
		latency := &Latency{Format: d.Latency.Format, File: d.Latency.File, Field: d.Latency.Field, Time: d.Latency.Time,
			Due: d.Latency.Due, Unit: d.Latency.Unit, Percentiles: d.Latency.Percentiles}
		if d.Latency.Limit != "" {
			if err := latency.SetLimit(d.Latency.Limit); err != nil {
				return e, err
			}
		}
		var err error
		if e.Latency, err = latency.Complete(); err != nil {
			return e, err
		}
	}
	if d.Service != nil {
		e.Service = &Service{Pid: d.Service.Pid, Cgroup: d.Service.Cgroup, Measure: d.Service.Measure,
			Counter: d.Service.Counter, Period: time.Duration(d.Service.Period), WashOut: -1}
		if d.Service.WashOut != nil {
			e.Service.WashOut = time.Duration(*d.Service.WashOut)
		}
	}
	return e, nil
}
