package code

import "strings"

// jvmLibraries are the packages that come with a JVM (OpenJDK 8 to 25) or its languages.
var jvmLibraries = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "scala.",
	"groovy.", "clojure."}

func jvmOwner(name string) Owner {
	name = strings.ReplaceAll(jvmMethod(name), "/", ".")
	switch {
	case !strings.ContainsAny(name, ".#:") || strings.ContainsAny(name, "[ "):
		return Runtime // stubs: Interpreter, call_stub …
	case beginsWithAny(name, jvmLibraries):
		return Standard
	}
	return Program
}

// jvmMethod takes off what a name has of its signature: int Main.read(byte[]) is Main.read. What
// the JVM makes itself has other blanks: StubRoutines (1).
func jvmMethod(name string) string {
	method, _, signed := strings.Cut(name, "(")
	if !signed || strings.HasSuffix(method, " ") {
		return name
	}
	return method[strings.LastIndex(method, " ")+1:]
}
