package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"culprit/internal/agent/lookup"
	"culprit/internal/cause"
)

// causeSchema names the JSON document of one cause, or of the list of them.
const causeSchema = "culprit.causes/1"

// causeDocument is that document.
type causeDocument struct {
	Schema string      `json:"schema"`
	Causes []causeText `json:"causes"`
}

type causeText struct {
	ID         string `json:"id"`
	Claim      string `json:"claim"`
	Example    string `json:"example"`
	Evidence   string `json:"evidence"`
	Proof      string `json:"proof"`
	Remedy     string `json:"remedy"`
	MistakenAs string `json:"mistaken_as"`
	// Flips are the interventions that investigate can make to prove it, the best first.
	Flips []cause.Flip `json:"flips"`
}

// explainOptions is what may be typed for explain.
type explainOptions struct {
	json   string
	metric string
	why    bool
	html   string
	force  bool

	agentDir string
}

func explainVerb(w world) *cobra.Command {
	var o explainOptions
	command := &cobra.Command{
		Use:   "explain [CAUSE | FILE.culprit | CASE | agent:SERVICE@TIME]",
		Short: "The text of one cause, or the suspects in a recording or a case",
		Long: `With a cause: what it claims, an example, what raises it, what would prove it, the remedy,
and what it is mistaken for. With a recording: where its time went and the causes that it matches;
one recording has no spread, so no suspect gets beyond "observed" or "predicted". With the directory
of a case: its recordings are judged again, by this version of culprit. With agent:web@03:00..03:10:
what the agent of this host saw of the service web then. Without any of them: all causes, one a
line.`,
		Example: `  culprit explain
  culprit explain clock.vdso-bypassed
  culprit record -o naps.culprit -- sh -c 'for i in 1 2 3 4 5; do sleep 0.05; done'
  culprit explain naps.culprit
  culprit explain --why naps.culprit
  culprit explain --html naps.html naps.culprit`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("explain one thing at a time, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: completeCauses,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.json != "" && o.json != "-" {
				if err := checkOutput(o.json, true); err != nil {
					return err
				}
			}
			if o.html != "" {
				if err := checkOutput(o.html, o.force); err != nil {
					return err
				}
			}
			switch {
			case len(args) == 0 && o.html != "":
				return errors.New("--html is of a case or a recording: culprit explain --html PAGE FILE.culprit")
			case len(args) == 0:
				return explainAll(w, o)
			case lookup.Is(args[0]):
				return explainWindows(cmd.Context(), w, o, args[0])
			case isCase(args[0]):
				return explainCase(cmd.Context(), w, o, args[0])
			case isFile(args[0]):
				return explainFile(cmd.Context(), w, o, args[0])
			}
			if o.why {
				return errors.New("--why is of a case or a recording: culprit explain --why CASE")
			}
			if o.html != "" {
				return errors.New("--html is of a case or a recording: culprit explain --html PAGE FILE.culprit")
			}
			return explainCause(w, o, args[0])
		},
	}
	command.Flags().StringVar(&o.json, "json", "", "write the same as JSON to this file, - for standard output")
	command.Flags().StringVar(&o.metric, "metric", "auto",
		"of recordings: wall, cpu, or auto: what one mostly spends, or what a case is about")
	command.Flags().BoolVar(&o.why, "why", false,
		"of recordings: how the answer came about: which rule gave, moved or took how much, and why the order is so")
	command.Flags().StringVar(&o.html, "html", "",
		"of a case or a recording: write a page with the flame graph to this file")
	command.Flags().BoolVarP(&o.force, "force", "f", false, "overwrite the page")
	command.Flags().StringVar(&o.agentDir, "agent-dir", "", "folder of the agent whose windows agent:SERVICE@TIME names")
	return command
}

// isFile tells a recording from a cause: ids of causes never look like a path.
func isFile(word string) bool {
	if _, known := cause.Lookup(cause.ID(word)); known {
		return false
	}
	if strings.HasSuffix(word, ".culprit") || strings.Contains(word, "/") {
		return true
	}
	_, err := os.Stat(word)
	return err == nil
}

func completeCauses(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, entry := range cause.Catalogue() {
		words = append(words, string(entry.ID)+"\t"+entry.Told())
	}
	return words, cobra.ShellCompDirectiveDefault // files too: a recording can be explained
}

func explainAll(w world, o explainOptions) error {
	document := causeDocument{Schema: causeSchema}
	t := &table{}
	width := 0
	for _, entry := range cause.Catalogue() {
		document.Causes = append(document.Causes, textOf(entry))
		width = max(width, len(entry.ID)+2)
	}
	for _, entry := range document.Causes {
		for i, line := range wrapText(entry.Claim, textWidth-width) {
			label := entry.ID
			if i > 0 {
				label = ""
			}
			fmt.Fprintf(&t.out, "%-*s%s\n", width, label, line)
		}
	}
	return o.tell(w, t, document)
}

func explainCause(w world, o explainOptions, id string) error {
	entry, known := cause.Lookup(cause.ID(id))
	if !known {
		return fmt.Errorf("no cause %q; %s", id, nearestCauses(id))
	}
	text := textOf(entry)
	t := &table{}
	fmt.Fprintln(&t.out, text.ID)
	for _, part := range []struct{ label, text string }{
		{"claim", text.Claim}, {"example", text.Example}, {"evidence", text.Evidence}, {"proof", text.Proof},
		{"flips", flipsText(text.Flips)},
		{"remedy", text.Remedy}, {"mistaken", text.MistakenAs},
	} {
		for i, line := range wrapText(part.text, textWidth-12) {
			if i > 0 {
				part.label = ""
			}
			fmt.Fprintf(&t.out, "  %-10s%s\n", part.label, line)
		}
	}
	return o.tell(w, t, causeDocument{Schema: causeSchema, Causes: []causeText{text}})
}

// tell writes the text, the JSON, or both.
func (o explainOptions) tell(w world, t *table, document any) error {
	if o.json != "-" {
		if _, err := w.stdout.Write(t.out.Bytes()); err != nil {
			return fmt.Errorf("write explanation: %w", err)
		}
	}
	if o.json == "" {
		return nil
	}
	return writeJSON(w, o.json, document)
}

func textOf(known cause.Cause) causeText {
	return causeText{ID: string(known.ID), Claim: known.Told(), Example: known.Example,
		Evidence: known.Evidence, Proof: known.Proof, Remedy: known.Remedy, MistakenAs: known.MistakenAs,
		Flips: append([]cause.Flip{}, known.Flips...)}
}

// flipsText says in one paragraph what investigate flips for a proof.
func flipsText(flips []cause.Flip) string {
	var texts []string
	for _, flip := range flips {
		text := flip.Text
		if flip.Way == cause.BySetting {
			text += " (" + flip.What + ")"
		}
		if !flip.Exact {
			text += " (can prove, not refute)"
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return "nothing: investigate cannot prove it by itself"
	}
	return strings.Join(texts, "; or ")
}

// nearestCauses names the ids that a mistyped one may have meant: what begins
// or ends like it first, then what is few letters away.
func nearestCauses(id string) string {
	const offered = 3
	var near []string
	offer := func(known string) {
		if len(near) < offered && !slices.Contains(near, known) {
			near = append(near, known)
		}
	}
	var ids []string
	for _, known := range cause.IDs() {
		ids = append(ids, string(known))
	}
	for _, known := range ids {
		if id != "" && (strings.HasPrefix(known, id) || strings.HasSuffix(known, "."+id)) {
			offer(known)
		}
	}
	for distance := 1; distance <= 1+len(id)/4; distance++ {
		for _, known := range ids {
			if editDistance(id, known) == distance {
				offer(known)
			}
		}
	}
	if len(near) == 0 {
		return "'culprit explain' lists them all"
	}
	return "the nearest are " + strings.Join(near, ", ")
}

// editDistance counts the letters to insert, delete or replace (Levenshtein).
func editDistance(a, b string) int {
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		current := []int{i + 1}
		for j := range len(b) {
			replace := previous[j]
			if a[i] != b[j] {
				replace++
			}
			current = append(current, min(replace, previous[j+1]+1, current[j]+1))
		}
		previous = current
	}
	return previous[len(b)]
}
