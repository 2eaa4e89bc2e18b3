package try

import (
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"culprit/internal/shell"
)

// Kind says how a factor's levels are set.
type Kind string

// The kinds. Those but KindKnob need a fresh start of the command, which every trial is.
const (
	// KindKnob is a setting of the host, of a cgroup or of the command's process.
	KindKnob Kind = "knob"
	// KindEnv is a variable, env.NAME; an empty level means that it is not set.
	KindEnv         Kind = "env"
	KindPlaceholder Kind = "placeholder" // {NAME} in the command
	KindGround      Kind = "ground"      // the file system of the working directory
	KindVariant     Kind = "variant"     // whole commands
	KindMonitor     Kind = "monitor"     // a command beside the workload; an empty level means none
)

// Level is one value of a factor.
type Level struct {
	Name  string `json:"name"`  // as it is called in results
	Value string `json:"value"` // as it is set
}

// Factor is one thing that is varied. Its first level is the baseline.
type Factor struct {
	Name   string  `json:"name"`
	Kind   Kind    `json:"kind"`
	Levels []Level `json:"levels"`
	// Negative marks a factor that ought to do nothing: if it does, something else is at work.
	Negative bool `json:"negative,omitempty"`
}

const envPrefix = "env."

// envName is what POSIX calls a name; a shell could not unset another.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParseFactor reads NAME=V1,V2,…; \, is a comma within a value, and a value A..B stands for whole
// numbers. The kind is settled by Resolve, once the command is known.
func ParseFactor(text string) (Factor, error) {
	name, values, found := strings.Cut(text, "=")
	if !found || name == "" {
		return Factor{}, fmt.Errorf("vary %q: give NAME=V1,V2", text)
	}
	factor := Factor{Name: name}
	for _, value := range splitValues(values) {
		numbers, err := numbersOf(value)
		if err != nil {
			return Factor{}, fmt.Errorf("vary %q: %w", text, err)
		}
		for _, number := range numbers {
			factor.Levels = append(factor.Levels, Level{Name: number, Value: number})
		}
	}
	return factor, nil
}

// rangeOf is A..B, of which the end may be the CPUs that this process may use.
var rangeOf = regexp.MustCompile(`^([0-9]{1,9})\.\.([0-9]{1,9}|cpus)$`)

const (
	allOf     = 8  // numbers of a range that are all tried; of a longer one the doubles of the first, and the last
	longRange = 40 // doublings that a number of nine digits can hold
)

// numbersOf are the whole numbers that A..B stands for; any other value stands for itself.
func numbersOf(value string) ([]string, error) {
	parts := rangeOf.FindStringSubmatch(value)
	if parts == nil {
		return []string{value}, nil
	}
	first, _ := strconv.Atoi(parts[1]) // nine digits
	last, _ := strconv.Atoi(parts[2])
	if parts[2] == "cpus" {
		last = runtime.NumCPU()
	}
	if last < first {
		return nil, fmt.Errorf("%s goes from %d down to %d; write the smaller number first", value, first, last)
	}
	var numbers []string
	for n := first; n < last && len(numbers) < longRange; {
		numbers = append(numbers, strconv.Itoa(n))
		if last-first < allOf {
			n++
		} else {
			n = max(2*n, 1)
		}
	}
	return append(numbers, strconv.Itoa(last)), nil
}

// splitValues cuts at commas that no backslash precedes.
func splitValues(text string) []string {
	var values []string
	var value strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ',':
			i++
			value.WriteByte(',')
		case text[i] == ',':
			values = append(values, value.String())
			value.Reset()
		default:
			value.WriteByte(text[i])
		}
	}
	return append(values, value.String())
}

// Resolve settles what kind of factor a name is: a variable, the ground, the variants, a
// {placeholder} of the command, else a setting.
func (f Factor) Resolve(command Command) Factor {
	switch {
	case f.Kind != "":
	case strings.HasPrefix(f.Name, envPrefix):
		f.Kind = KindEnv
	case f.Name == "ground":
		f.Kind = KindGround
	case f.Name == "variant":
		f.Kind = KindVariant
	case command.has(f.Name):
		f.Kind = KindPlaceholder
	default:
		f.Kind = KindKnob
	}
	for i, level := range f.Levels {
		if level.Name == "" && f.Kind == KindEnv {
			f.Levels[i].Name = "(unset)"
		}
	}
	return f
}

// maxLevelName bounds what is shown and stored of a level.
const maxLevelName = 4096

// held tells whether the factor is no question: its one level is set for all trials.
func (f Factor) held() bool { return len(f.Levels) == 1 }

func (f Factor) check() error {
	if len(f.Levels) == 0 {
		return fmt.Errorf("%s has no level; give two or more, the baseline first", f.Name)
	}
	names := map[string]bool{}
	for _, level := range f.Levels {
		switch {
		case level.Value == "" && f.Kind != KindEnv && f.Kind != KindMonitor:
			return fmt.Errorf("%s has an empty level; write NAME=V1,V2", f.Name)
		case names[level.Name]:
			return fmt.Errorf("%s has level %q twice; for a comparison of a level with itself give --control",
				f.Name, level.Name)
		case strings.ContainsRune(level.Value, 0) || len(level.Value) > maxLevelName:
			return fmt.Errorf("%s has a level that is too long or holds a zero byte", f.Name)
		}
		names[level.Name] = true
	}
	if f.Kind == KindEnv && !envName.MatchString(strings.TrimPrefix(f.Name, envPrefix)) {
		return fmt.Errorf("%s is no name of a variable; write env.NAME", f.Name)
	}
	return nil
}

// doses are the levels as numbers, nil when one is none or there are fewer than three.
func (f Factor) doses() []float64 {
	if len(f.Levels) < 3 || f.Kind == KindMonitor || f.Kind == KindVariant {
		return nil
	}
	doses := make([]float64, len(f.Levels))
	for i, level := range f.Levels {
		value, err := strconv.ParseFloat(level.Value, 64)
		if err != nil || value != value {
			return nil
		}
		doses[i] = value
	}
	return doses
}

// Command is what a trial runs: one text for the shell, or words that reach the program as they
// are.
type Command struct {
	Shell string   `json:"shell,omitempty"`
	Words []string `json:"words,omitempty"`
}

// NewCommand makes a command of the words after --. A single word is taken as a text for the shell,
// so that quotes and pipes in it work.
func NewCommand(words []string) Command {
	if len(words) == 1 {
		return Command{Shell: words[0]}
	}
	return Command{Words: words}
}

func (c Command) empty() bool { return strings.TrimSpace(c.Shell) == "" && len(c.Words) == 0 }

func (c Command) has(name string) bool {
	return strings.Contains(c.Shell+" "+strings.Join(c.Words, " "), "{"+name+"}")
}

// Text is the command as people see it.
func (c Command) Text() string {
	if len(c.Words) > 0 {
		return c.with(nil)
	}
	return c.Shell
}

// with puts values into the placeholders and returns a text for the shell. In a command of words a
// value is one word or part of one, whatever it holds; in a text it is put in as it was typed.
func (c Command) with(values map[string]string) string {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	// One pass, so that a value that looks like a placeholder stays what it is.
	replace := strings.NewReplacer(pairs...)
	if len(c.Words) == 0 {
		return replace.Replace(c.Shell)
	}
	words := make([]string, len(c.Words))
	for i, word := range c.Words {
		words[i] = replace.Replace(word)
	}
	return shell.Join(words)
}
