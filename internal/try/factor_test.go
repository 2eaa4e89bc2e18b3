package try

import (
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseFactor(t *testing.T) {
	for text, want := range map[string][]string{
		"n=1,2": {"1", "2"}, `affinity=0\,1,0`: {"0,1", "0"}, "env.X=,a=b": {"", "a=b"}, `p=a\b,c`: {`a\b`, "c"},
		"n=1..4": {"1", "2", "3", "4"}, "n=0,2..3": {"0", "2", "3"}, "n=1..16": {"1", "2", "4", "8", "16"},
		"n=3..30": {"3", "6", "12", "24", "30"}, "n=0..9": {"0", "1", "2", "4", "8", "9"}, "n=5..5": {"5"},
		"p=a..b,1..": {"a..b", "1.."}, "n=999999999..cpu": {"999999999..cpu"},
	} {
		factor, err := ParseFactor(text)
		var values []string
		for _, level := range factor.Levels {
			values = append(values, level.Value)
		}
		if err != nil || !reflect.DeepEqual(values, want) {
			t.Errorf("%s: %q, %v", text, values, err)
		}
	}
	for _, text := range []string{"n", "=1,2", "n=4..1", "n=999999999..cpus"} {
		if _, err := ParseFactor(text); err == nil {
			t.Errorf("%q is a factor", text)
		}
	}
	command := NewCommand([]string{"run {n}"})
	for name, want := range map[string]Kind{"n": KindPlaceholder, "env.A": KindEnv, "ground": KindGround,
		"variant": KindVariant, "clocksource": KindKnob} {
		if kind := (Factor{Name: name}).Resolve(command).Kind; kind != want {
			t.Errorf("%s is %s", name, kind)
		}
	}
}

// A level in a command of words reaches the program as one word, whatever a shell would make of it.
func TestPlaceholdersInWords(t *testing.T) {
	for _, value := range []string{"plain", "two words", `q'uo"te`, "$(touch /tmp/culprit-injected)", "`id`", "a;b",
		"{n}"} {
		command := NewCommand([]string{"printf", "%s|%s", "{n}", "x{n}y"})
		out, err := exec.Command("/bin/sh", "-c", command.with(map[string]string{"n": value})).Output()
		if want := value + "|x" + value + "y"; err != nil || string(out) != want {
			t.Errorf("%q: %q, %v", value, out, err)
		}
	}
	if text := NewCommand([]string{"a {n} | b"}).with(map[string]string{"n": "1 2"}); text != "a 1 2 | b" {
		t.Errorf("one text: %q", text)
	}
}

func TestFillMonitor(t *testing.T) {
	text, err := fillMonitor("watch {pid} {pid} {other}", 42)
	if err != nil || text != "watch 42 42 {other}" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := fillMonitor("x {cgroup}", 1<<30); err == nil {
		t.Error("a process that is not there has a cgroup")
	}
	for content, want := range map[string]string{
		"0::/a/b\n": "a/b", "4:perf_event:/p\n0::/u\n": "p", "0::/\n": "", "": "", "7:cpu,cpuacct:/x\n": "",
	} {
		if got := groupName(content); got != want {
			t.Errorf("%q: %q", content, got)
		}
	}
}

func TestChecks(t *testing.T) {
	good := simulatedExperiment(t, "n=1,2")
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	second := func(change func(*Experiment)) Experiment {
		e := simulatedExperiment(t, "n=1,2", "m=1,2,3")
		change(&e)
		return e
	}
	for want, change := range map[string]func(*Experiment){
		"nothing to vary": func(e *Experiment) { e.Factors = nil },
		"varied twice":    func(e *Experiment) { e.Factors[1] = e.Factors[0] },
		"two or more": func(e *Experiment) {
			e.Factors = e.Factors[:1]
			e.Factors[0].Levels = e.Factors[0].Levels[:1]
		},
		"twice; for a comparison":     func(e *Experiment) { e.Factors[0].Levels[1] = e.Factors[0].Levels[0] },
		"empty level":                 func(e *Experiment) { e.Factors[0].Levels[1] = Level{} },
		"budget":                      func(e *Experiment) { e.Budget = -1 },
		"trials":                      func(e *Experiment) { e.Trials = 1 },
		"smallest":                    func(e *Experiment) { e.Smallest = 2 },
		"no metric":                   func(e *Experiment) { e.Metrics = nil },
		"metric wall is given twice":  func(e *Experiment) { e.Metrics = []Metric{Wall, Wall} },
		"design":                      func(e *Experiment) { e.Design = "best" },
		"vary two or more":            func(e *Experiment) { e.Design, e.Factors = Factorial, e.Factors[:1] },
		"-p PID or --cgroup":          func(e *Experiment) { e.Design = Switchback },
		"takes --design switchback":   func(e *Experiment) { e.Service = &Service{Pid: 1} },
		"the command has no {n}":      func(e *Experiment) { e.Command = Command{Shell: "x"} },
		"no command":                  func(e *Experiment) { e.Command = Command{} },
		"needs to know where":         func(e *Experiment) { e.Metrics = []Metric{{Name: "latency.p99"}} },
		"too many; vary fewer levels": manyLevels,
		"no name of a variable":       func(e *Experiment) { e.Factors[0].Name, e.Factors[0].Kind = "env.A;rm", KindEnv },
		"timeout":                     func(e *Experiment) { e.Timeout = -1 },
		"wash-out":                    func(e *Experiment) { wait := -time.Second; e.WashOut = &wait },
	} {
		err := second(change).Check()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	service := Experiment{Service: &Service{Pid: os.Getpid(), WashOut: -1}, Factors: []Factor{{Name: "vm.swappiness",
		Levels: []Level{{"60", "60"}, {"10", "10"}}}}}
	service, err := service.Settle()
	if err == nil {
		err = service.Check()
	}
	if err != nil || service.Design != Switchback || service.Metrics[0] != (Metric{Name: "cpu", Unit: "CPUs"}) ||
		service.Service.WashOut == 0 {
		t.Errorf("%+v, %v", service, err)
	}
	for want, change := range map[string]func(s *Service){
		"no process": func(s *Service) { s.Pid = 1 << 30 }, "only one": func(s *Service) { s.Cgroup = "/" },
		"period": func(s *Service) { s.Period = 1 }, "wash-out": func(s *Service) { s.WashOut = time.Hour },
		"not the one": func(s *Service) { s.Born = "1" },
		"no cgroup":   func(s *Service) { s.Pid, s.Cgroup = 0, "/none" },
	} {
		bad := *service.Service
		change(&bad)
		e := service
		e.Service = &bad
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func manyLevels(e *Experiment) {
	for i := range 100 {
		name := strings.Repeat("x", i+1)
		e.Factors[0].Levels = append(e.Factors[0].Levels, Level{name, name})
	}
}

func TestParseMetric(t *testing.T) {
	for text, want := range map[string]Metric{
		"wall": Wall, "cpu": CPU, "switches": {Name: "switches", Add: half},
		"ops=(\\d+) ops,higher":   {Name: "ops", Pattern: `(\d+) ops`, Higher: true},
		"ms=(\\d+),lower":         {Name: "ms", Pattern: `(\d+)`},
		"latency.p99.9":           {Name: "latency.p99.9", Unit: "s"},
		"latency.throughput":      {Name: "latency.throughput", Unit: "1/s", Higher: true},
		"latency.stalls":          {Name: "latency.stalls", Add: half},
		"latency.p50,higher":      {Name: "latency.p50", Unit: "s", Higher: true},
		"x=latency.p(\\d+),lower": {Name: "x", Pattern: `latency.p(\d+)`},
	} {
		if metric, err := ParseMetric(text); err != nil || metric != want {
			t.Errorf("%s: %+v, %v", text, metric, err)
		}
	}
	for _, text := range []string{"", "x", "wall=(1)", "x=", "x=y", "latency.p", "latency.p100", "latency.x",
		"latency.p9,up",
		"switches=(1)", "a b=(1)"} {
		if metric, err := ParseMetric(text); err == nil {
			t.Errorf("%q is a metric: %+v", text, metric)
		}
	}
}

// A factor with one level is set for all trials and adds neither a condition nor a comparison.
func TestHeldFactor(t *testing.T) {
	for _, design := range []Design{Blocks, One} {
		l, err := layOut(Experiment{Design: design, Factors: []Factor{
			{Name: "n", Levels: []Level{{Name: "1"}, {Name: "2"}}}, {Name: "held", Levels: []Level{{Name: "x"}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.conditions) != 2 || l.comparisons() != 1 || len(l.stages) != 1 || l.conditions[1].label != "2" {
			t.Errorf("%s: %+v", design, l)
		}
	}
	alone := Experiment{Factors: []Factor{{Name: "held", Levels: []Level{{Name: "x"}}}}}
	if err := alone.checkFactors(); err == nil || !strings.Contains(err.Error(), "held has 1 level") {
		t.Errorf("nothing to compare: %v", err)
	}
}
