package investigate

import (
	"fmt"
	"slices"
	"strings"

	"culprit/internal/cause"
	"culprit/internal/shell"
)

// partOf is what a flip calls a piece; "" for what starts the program unchanged.
func partOf(kind shell.Kind) string {
	switch kind {
	case shell.Variable:
		return cause.PartVariable
	case shell.Wrapper:
		return cause.PartWrapper
	case shell.Tracer:
		return cause.PartTracer
	}
	return ""
}

// concerns tells whether a flip changes a piece.
func concerns(flip cause.Flip, piece shell.Piece) bool {
	part := partOf(piece.Kind)
	switch {
	case flip.What == cause.PartHead && (part == cause.PartVariable || part == cause.PartWrapper):
		return true
	case flip.What != part:
		return false
	}
	return len(flip.Names) == 0 || slices.ContainsFunc(flip.Names, func(name string) bool {
		return strings.HasPrefix(piece.Name, name)
	})
}

// restarted is a command with those parts as the other side has them, or without where it has none;
// from and to say what was changed. It fails with errNoFlip where the flip changes nothing.
func restarted(command, other string, flip cause.Flip) (text, from, to string, err error) {
	ours, err := shell.Parse(command, other)
	if err != nil {
		return "", "", "", fmt.Errorf("start it with another %s: %w", flip.What, err)
	}
	var theirs shell.Command
	if other != "" && flip.What != cause.PartTracer {
		if theirs, err = shell.Parse(other, command); err != nil {
			return "", "", "", fmt.Errorf("start it with the other side's %s: %w", flip.What, err)
		}
	}
	head, out, in := exchanged(ours.Head, theirs.Head, flip)
	ours.Head = head
	if len(ours.Words) == 0 {
		return "", "", "", errNoFlip
	}
	if (flip.What == cause.PartOption || flip.What == cause.PartHead) && len(theirs.Words) > 0 &&
		ours.Words[0].Value == theirs.Words[0].Value {
		options, rest := optionsOf(ours.Words)
		others, _ := optionsOf(theirs.Words)
		out, in = append(out, options...), append(in, others...)
		ours.Words = slices.Concat(ours.Words[:1], others, rest)
	}
	was, is := texts(out), texts(in)
	if slices.Equal(was, is) {
		return "", "", "", errNoFlip
	}
	return ours.Text(), orBare(was, is), orBare(is, was), nil
}

// exchanged is our head with the pieces that a flip concerns taken out and the other side's put in;
// out and in are their words.
func exchanged(ours, theirs []shell.Piece, flip cause.Flip) (
	head []shell.Piece, out, in []shell.Word) {
	for _, piece := range ours {
		if concerns(flip, piece) {
			out = append(out, piece.Words...)
		} else {
			head = append(head, piece)
		}
	}
	var variables, wrappers []shell.Piece
	for _, piece := range theirs {
		switch {
		case !concerns(flip, piece):
			continue
		case piece.Kind == shell.Variable:
			variables = append(variables, piece)
		default:
			wrappers = append(wrappers, piece)
		}
		in = append(in, piece.Words...)
	}
	// The shell reads variables and exec itself: a wrapper cannot stand before them.
	begin := slices.IndexFunc(head, func(piece shell.Piece) bool {
		return piece.Kind != shell.Variable && (piece.Kind != shell.Carrier || piece.Name == "env")
	})
	if begin < 0 {
		begin = len(head)
	}
	head = slices.Insert(head, begin, wrappers...)
	// env may clear what the shell sets: variables stand behind it.
	behind := 0
	for i, piece := range head {
		if piece.Kind == shell.Carrier && piece.Name == "env" {
			behind = i + 1
		}
	}
	return slices.Insert(head, behind, variables...), out, in
}

// optionsOf are the options of a run time, what begins with a dash right behind the program, and
// the words behind them.
func optionsOf(words []shell.Word) (options, rest []shell.Word) {
	end := 1
	for end < len(words) && strings.HasPrefix(words[end].Value, "-") {
		end++
	}
	return words[1:end], words[end:]
}

func texts(words []shell.Word) (list []string) {
	for _, word := range words {
		list = append(list, word.Text)
	}
	return list
}

// orBare names one side's words that the other lacks.
func orBare(words, without []string) string {
	var own []string
	for _, word := range words {
		if !slices.Contains(without, word) {
			own = append(own, word)
		}
	}
	if len(own) == 0 {
		return "nothing of it"
	}
	return strings.Join(own, " ")
}
