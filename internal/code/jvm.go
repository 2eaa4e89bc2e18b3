package code

import "strings"

// jvmLibraries are the packages that come with a JVM (OpenJDK 8 to 25) or its languages.
var jvmLibraries = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "scala.",
	"groovy.", "clojure."}

func jvmOwner(name string) Owner {
	name = strings.ReplaceAll(name, "/", ".")
	switch {
	case !strings.ContainsAny(name, ".#:") || strings.ContainsAny(name, "[ "):
		return Runtime // stubs: Interpreter, call_stub …
	case beginsWithAny(name, jvmLibraries):
		return Standard
	}
	return Program
}
