package format

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"culprit/recording"
)

// isHex tells the digits of an address.
var isHex = func() (table [256]bool) {
	for _, c := range "0123456789abcdefABCDEF" {
		table[c] = true
	}
	return table
}()

// cutAddress splits "ffffffff81a01190 native_write_msr+0x4 (…)" behind its
// address. high: it is in the kernel's half of the address space.
func cutAddress(line []byte) (rest []byte, high, ok bool) {
	start := 0
	for start < len(line) && isBlank(line[start]) {
		start++
	}
	end := start
	for end < len(line) && isHex[line[end]] {
		end++
	}
	if end == start || end < len(line) && !isBlank(line[end]) {
		return nil, false, false
	}
	high = end-start == 16 && line[start] == 'f'
	for end < len(line) && isBlank(line[end]) {
		end++
	}
	return line[end:], high, true
}

// parsePerfFrame reads what stands behind an address: "symbol+0x1f (file)", with
// or without the offset and the file. Symbols hold blanks and parentheses, files
// too, "(deleted)" at least: the file is in the last balanced parentheses.
func parsePerfFrame(text []byte, high bool) recording.Frame {
	symbol, module := string(text), ""
	if open := moduleStart(text); open >= 0 {
		symbol, module = string(text[:max(0, open-1)]), string(text[open+1:len(text)-1])
	}
	module = strings.TrimSuffix(module, " (deleted)")
	moduleOffset := ""
	if at := strings.LastIndex(module, "+0x"); at > 0 && allHex(module[at+3:]) { // -F +dsoff
		module, moduleOffset = module[:at], module[at:]
	}
	if at := strings.LastIndex(symbol, "+0x"); at > 0 && allHex(symbol[at+3:]) {
		symbol = symbol[:at]
	}
	symbol = strings.TrimRight(symbol, " ")
	frame := recording.Frame{Name: symbol, Module: moduleName(module), Kind: kindByModule(module, high)}
	if isJITModule(module) {
		frame.Kind = kindByName(symbol)
	}
	switch {
	case module == "inlined":
		frame.Module = ""
	case symbol == "[unknown]" || symbol == "":
		frame.Name = unknownName(frame.Module, moduleOffset, high)
	}
	return readableName(frame)
}

// inlinedInto splits "La;::outer->Lb;::inner (/tmp/perf-1.map)", as perf-map-agent writes inlined
// methods of Java, before the innermost one: inner and outer are frames of their own, with the
// map's name. inner is nil where nothing is inlined.
func inlinedInto(text []byte) (outer, inner []byte) {
	at := bytes.LastIndex(text, []byte("->L"))
	module := bytes.LastIndex(text, []byte(" (/tmp/perf-"))
	if at <= 0 || module < at || text[0] != 'L' || bytes.IndexByte(text[at:module], ';') < 0 {
		return text, nil
	}
	return append(append([]byte{}, text[:at]...), text[module:]...), text[at+len("->"):]
}

// moduleStart finds the parenthesis that opens the last balanced pair, -1 when the line does not
// end with one.
func moduleStart(text []byte) int {
	if len(text) == 0 || text[len(text)-1] != ')' {
		return -1
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if i == 0 || text[i-1] == ' ' {
					return i
				}
				return -1 // "operator()(int)": no file was printed
			}
		}
	}
	if at := bytes.LastIndex(text, []byte(" (")); at >= 0 { // a file's name with a parenthesis of its own
		return at + 1
	}
	return -1
}

func allHex(text string) bool {
	for i := range len(text) {
		if !isHex[text[i]] {
			return false
		}
	}
	return text != ""
}

// isJITModule tells the maps that runtimes write for perf, and memory without a file.
func isJITModule(module string) bool {
	base := path.Base(module)
	return strings.HasPrefix(base, "perf-") && strings.HasSuffix(base, ".map") ||
		strings.HasPrefix(base, "jitted-") || strings.HasPrefix(module, "//anon") || module == "[heap]"
}

// moduleName is the base name of the mapped file; the name of a JIT map holds a
// process id, which says nothing on another day.
func moduleName(module string) string {
	switch {
	case module == "" || module == "[unknown]":
		return ""
	case strings.HasPrefix(module, "["):
		return module
	case isJITModule(module):
		return "[jit]"
	}
	return path.Base(module)
}

// unknownName stands for code without a symbol: its file is all that is known,
// for addresses differ from run to run.
func unknownName(module, offset string, high bool) string {
	switch {
	case module != "" && offset != "":
		return module + offset
	case strings.HasPrefix(module, "["):
		return module
	case module != "":
		return "[" + module + "]"
	case high:
		return "[kernel]"
	}
	return "[unknown]"
}

// readableName turns the names that JIT compilers write for perf into the ones that people know.
func readableName(frame recording.Frame) recording.Frame {
	switch frame.Kind {
	case recording.KindJVM: // Ljava/lang/String;::charAt, or Ljava/lang/String;.charAt(I)C
		if javaName.MatchString(frame.Name) {
			class, method, _ := strings.Cut(frame.Name[1:], ";")
			method, _, _ = strings.Cut(strings.TrimLeft(method, ":."), "(")
			frame.Name = strings.TrimSuffix(strings.ReplaceAll(class, "/", ".")+"."+method, ".")
		}
	case recording.KindPython: // py::function:/path/file.py
		name, file, ok := strings.Cut(strings.TrimPrefix(frame.Name, "py::"), ":")
		if ok {
			frame.Name, frame.File = name, file
		}
	}
	return frame
}

// parseSrcline reads "file.c:123", the line that -F +srcline prints below a frame.
func parseSrcline(line []byte) (file string, number int32, ok bool) {
	text := strings.TrimSpace(string(line))
	text, _, _ = strings.Cut(text, " (discriminator")
	colon := strings.LastIndexByte(text, ':')
	if colon <= 0 {
		return "", 0, false
	}
	parsed, err := strconv.ParseInt(text[colon+1:], 10, 32)
	if err != nil || parsed < 0 || strings.HasPrefix(text[:colon], "??") {
		return "", 0, false
	}
	return text[:colon], int32(parsed), true
}
