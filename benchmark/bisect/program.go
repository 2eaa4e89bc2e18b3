package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"culprit/internal/stat"
)

// program is the real program: its files by name, and how many steps cost what is to be planted.
type program struct {
	files    map[string]string
	steps    int
	measured float64 // ratio of CPU time with those steps
}

const benchText = `// Command bench compresses a text.
package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
	"os"
	"strconv"

	"bench/flate"
)

func main() {
	random := rand.New(rand.NewSource(1))
	size := 3 << 20
	noise, err := strconv.ParseFloat(os.Getenv("NOISE"), 64)
	if err == nil {
		size = 1 << 17
	}
	words := make([][]byte, 2000)
	for i := range words {
		words[i] = make([]byte, 2+random.Intn(9))
		for j := range words[i] {
			words[i][j] = 'a' + byte(random.Intn(26))
		}
	}
	var text, packed bytes.Buffer
	for text.Len() < size {
		text.Write(words[int(random.ExpFloat64()*200)%len(words)])
		text.WriteByte(' ')
	}
	writer, err := flate.NewWriter(&packed, 6)
	if err != nil {
		panic(err)
	}
	writer.Write(text.Bytes())
	writer.Close()
	fmt.Println(packed.Len())
	if err == nil { // the steps that it took, as a host of that noise would time them
		fmt.Println("cost", float64(flate.Steps)*math.Exp(noise*rand.NormFloat64()))
	}
}
`

// place is where the regression is planted.
const place = "func (d *compressor) findMatch("

// newProgram copies the compressor out of the installed Go and works out what to plant.
func newProgram(folder string, o options) (*program, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("ask go for its folder: %w", err)
	}
	sources, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "compress", "flate", "*.go"))
	if err != nil {
		return nil, err
	}
	p := &program{files: map[string]string{"go.mod": "module bench\n\ngo 1.21\n", "main.go": benchText,
		".gitignore": "bench\n",
		"flate/codecs.go": "package flate\n\n// Steps counts what findMatch did.\nvar Steps uint64\n\n" +
			"// codecs are tried by nobody yet.\nvar codecs []func(uint32) uint32\n"}}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		text, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		p.files["flate/"+filepath.Base(source)] = string(text)
	}
	if !strings.Contains(p.files["flate/deflate.go"], place) {
		return nil, errors.New("this Go's compress/flate has no findMatch to plant in")
	}
	p.files["flate/deflate.go"] = inPlace(p.files["flate/deflate.go"], fmt.Sprintf("\tSteps += %d\n", countedSteps))
	if o.noise > 0 {
		p.steps, p.measured = int(math.Round(countedSteps*o.size)), 1+o.size
		return p, nil
	}
	return p, p.calibrate(folder, o.size)
}

// countedSteps is what a call of findMatch counts for, where the metric is what the program counts.
const countedSteps = 1000

// planted is deflate.go with so many steps more in each call of findMatch.
func (p *program) planted(steps int) string {
	added := fmt.Sprintf("\tfor step := 0; step < %d; step++ {\n\t\tchecked += uint32(step ^ pos)\n"+
		"\t}\n\tSteps += %d\n", steps, steps)
	return inPlace(p.files["flate/deflate.go"], added) +
		"\n// checked sums up what findMatch was asked for.\nvar checked uint32\n"
}

// inPlace has the function where the regression is planted begin with more code.
func inPlace(text, added string) string {
	at := strings.Index(text, place)
	at += strings.Index(text[at:], "{\n") + 2
	return text[:at] + added + text[at:]
}

// The runs of a calibration, and the steps that it measures with.
const (
	calibrationRuns  = 15
	calibrationSteps = 400
)

// calibrate measures what steps cost, and what those cost that come to the size.
func (p *program) calibrate(folder string, size float64) error {
	plain, err := p.compiled(filepath.Join(folder, "plain"), 0)
	if err != nil {
		return err
	}
	heavy, err := p.compiled(filepath.Join(folder, "heavy"), calibrationSteps)
	if err != nil {
		return err
	}
	ratio, err := costs(plain, heavy)
	if err != nil {
		return err
	}
	if !(ratio > 1) {
		return fmt.Errorf("%d steps more take %.2f times as long: nothing can be planted", calibrationSteps, ratio)
	}
	p.steps = max(1, int(math.Round(calibrationSteps*size/(ratio-1))))
	light, err := p.compiled(filepath.Join(folder, "light"), p.steps)
	if err != nil {
		return err
	}
	p.measured, err = costs(plain, light)
	return err
}

// compiled builds the program with so many steps.
func (p *program) compiled(folder string, steps int) (string, error) {
	for name, text := range p.files {
		if name == "flate/deflate.go" && steps > 0 {
			text = p.planted(steps)
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	build := exec.Command("go", "build", "-o", "bench", ".")
	build.Dir = folder
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, text)
	}
	return filepath.Join(folder, "bench"), nil
}

// costs is the ratio of CPU time of two programs, run in turn.
func costs(first, second string) (float64, error) {
	ratios := make([]float64, 0, calibrationRuns)
	for range calibrationRuns {
		a, err := cpuSeconds(first)
		if err != nil {
			return 0, err
		}
		b, err := cpuSeconds(second)
		if err != nil {
			return 0, err
		}
		ratios = append(ratios, b/a)
	}
	return stat.Middle(ratios), nil
}

func cpuSeconds(path string) (float64, error) {
	command := exec.Command(path)
	if err := command.Run(); err != nil {
		return 0, fmt.Errorf("run the program: %w", err)
	}
	return (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds(), nil
}

// history writes a repository of so many commits after the first one, which is tagged "first"; the
// one at the given position has the regression.
func (p *program) history(folder string, commits, at int, seed uint64) error {
	var stream bytes.Buffer
	random := rand.New(rand.NewPCG(seed, 7))
	for i := range commits + 1 {
		changed := map[string]string{"CHANGES": fmt.Sprintf("change %d\n", i)}
		title := "note what changed"
		switch {
		case i == 0:
			title = "compressor as it comes with Go"
			maps.Copy(changed, p.files)
		case i == at:
			title = "check positions before matching"
			changed["flate/deflate.go"] = p.planted(p.steps)
		case i%3 == 0:
			title = "add a codec"
			name, text := addition(i, random)
			changed[name] = text
		}
		write(&stream, i, title, changed)
	}
	for _, arguments := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"fast-import", "--quiet"},
		{"tag", "first", fmt.Sprintf("main~%d", commits)}, {"reset", "--quiet", "--hard", "main"}} {
		command := exec.Command("git", append([]string{"-C", folder}, arguments...)...)
		if arguments[0] == "fast-import" {
			command.Stdin = &stream
		}
		if text, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", arguments[0], err, text)
		}
	}
	return nil
}

// addition is a file of code that the program links, and that moves what lies behind it.
func addition(number int, random *rand.Rand) (name, text string) {
	text = fmt.Sprintf("package flate\n\nfunc init() { codecs = append(codecs, codec%d) }\n\nfunc codec%d(x "+
		"uint32) uint32 {\n",
		number, number)
	for range 3 + random.IntN(40) {
		text += fmt.Sprintf("\tx = x<<%d ^ x>>%d + %d\n", 1+random.IntN(15), 1+random.IntN(15), random.IntN(1<<20))
	}
	text += "\treturn x\n}\n"
	return fmt.Sprintf("flate/codec%d.go", number), text
}

func write(stream *bytes.Buffer, number int, title string, files map[string]string) {
	fmt.Fprintf(stream, "commit refs/heads/main\nmark :%d\ncommitter Bench <bench@example.org> %d +0000\n", number+1,
		1_700_000_000+3600*number)
	fmt.Fprintf(stream, "data %d\n%s\n", len(title), title)
	if number > 0 {
		fmt.Fprintf(stream, "from :%d\n", number)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[name]), files[name])
	}
}
