package code

import (
	"strings"
)

// jvmLibraries are the packages that come with a JVM or its languages.
var jvmLibraries = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "scala.", "groovy.", "clojure."}

func jvmApplication(name string) bool {
	name = strings.ReplaceAll(name, "/", ".")
	if !strings.ContainsAny(name, ".#:") || strings.ContainsAny(name, "[ ") {
		return false // stubs: Interpreter, call_stub …
	}
	for _, library := range jvmLibraries {
		if strings.HasPrefix(name, library) {
			return false
		}
	}
	return true
}
