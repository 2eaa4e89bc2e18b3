package bisect

import (
	"strings"

	"culprit/internal/shell"
)

// The placeholders of commands, and the variables that have their values. A value is never put into
// a command's text: the shell takes it out of the environment, so that no name or version can
// become a command.
var placeholders = map[string]string{"{dir}": "CULPRIT_DIR", "{version}": "CULPRIT_VERSION",
	"{package}": "CULPRIT_PACKAGE"}

// commandOf makes a shell command of the words after --. A single word is taken as it is, so that
// quotes and pipes in it work; of several, each one stays a word, whatever its placeholders stand
// for.
func commandOf(words []string) string {
	if len(words) == 1 {
		return expanded(words[0])
	}
	quoted := make([]string, len(words))
	for i, one := range words {
		quoted[i] = quotedWord(one)
	}
	return strings.Join(quoted, " ")
}

// quotedWord quotes all of a word but its placeholders, which become quoted variables.
func quotedWord(text string) string {
	var result strings.Builder
	for text != "" {
		at, name := nextPlaceholder(text)
		if at < 0 {
			break
		}
		if at > 0 {
			result.WriteString(shell.Quote(text[:at]))
		}
		result.WriteString(`"${` + placeholders[name] + `}"`)
		text = text[at+len(name):]
	}
	if text != "" || result.Len() == 0 {
		result.WriteString(shell.Quote(text))
	}
	return result.String()
}

// nextPlaceholder is the first one in a text, −1 for none.
func nextPlaceholder(text string) (at int, name string) {
	at = -1
	for one := range placeholders {
		if i := strings.Index(text, one); i >= 0 && (at < 0 || i < at) {
			at, name = i, one
		}
	}
	return at, name
}

// expanded puts variables in the place of placeholders in a shell command, quoted as the place
// needs.
func expanded(text string) string {
	var result strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); {
		at, name := nextPlaceholder(text[i:])
		if at == 0 {
			variable := "${" + placeholders[name] + "}"
			switch quote {
			case 0:
				variable = `"` + variable + `"`
			case '\'':
				variable = `'"` + variable + `"'`
			}
			result.WriteString(variable)
			i += len(name)
			continue
		}
		c := text[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(text):
			result.WriteByte(c)
			i++
			c = text[i]
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
		result.WriteByte(c)
		i++
	}
	return result.String()
}
