package dependency

import (
	"runtime/debug"
	"strings"

	"culprit/recording"
)

// goOptions are the settings of a Go build that change how it runs.
var goOptions = map[string]bool{"-race": true, "-gcflags": true, "-buildmode": true, "-compiler": true, "-msan": true,
	"-asan": true, "-pgo": true, "-tags": true, "CGO_ENABLED": true, "GOAMD64": true, "GOARM64": true, "GOARCH": true,
	"GOEXPERIMENT": true, "GOFIPS140": true, "DefaultGODEBUG": true}

// golang tells the modules of a Go program, out of its build information.
func (c *collector) golang(name string, one *binary, how string) {
	info := one.golang
	add := func(kind, what, version, evidence, packages string) {
		c.add(recording.Dependency{Kind: kind, Name: what, Version: version, Place: name, Evidence: evidence,
			Source: name, Packages: packages})
	}
	add(recording.DependencyRuntime, "go", strings.TrimPrefix(info.GoVersion, "go"), how, "runtime internal")
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
		if goOptions[setting.Key] {
			add(recording.DependencyOption, "go "+setting.Key, setting.Value, recording.SeenBuiltIn, "")
		}
	}
	if info.Main.Path != "" {
		add(recording.DependencyGo, info.Main.Path, mainVersion(info.Main.Version, settings), how,
			info.Main.Path+" main")
	}
	for _, module := range info.Deps[:min(len(info.Deps), maxModules)] {
		add(recording.DependencyGo, module.Path, moduleVersion(module), recording.SeenBuiltIn, module.Path)
	}
}

// mainVersion is that of the program itself: of one that was not fetched the commit.
func mainVersion(version string, settings map[string]string) string {
	revision := settings["vcs.revision"]
	if revision == "" || version != "" && version != "(devel)" {
		return strings.Trim(version, "()")
	}
	version = revision[:min(len(revision), 12)]
	if settings["vcs.modified"] == "true" {
		version += "+changed"
	}
	return version
}

// moduleVersion names what a module was replaced by.
func moduleVersion(module *debug.Module) string {
	if module.Replace == nil {
		return module.Version
	}
	text := module.Replace.Path
	if module.Replace.Version != "" {
		text += "@" + module.Replace.Version
	}
	return module.Version + " => " + text
}
