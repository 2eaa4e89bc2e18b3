package recording

// The kinds of dependencies: by who publishes them, else by what they are.
const (
	DependencyDebian  = "deb"          // a package of Debian's or of one of its children
	DependencyRPM     = "rpm"          // a package of Fedora, RHEL, SUSE and others that have RPM
	DependencyAlpine  = "apk"          // a package of Alpine
	DependencyPython  = "python"       // a distribution, as pip installs it
	DependencyNode    = "npm"          // a package, as npm resolved it
	DependencyGo      = "go"           // a module that is linked into a program
	DependencyJava    = "maven"        // "group:artifact"; of a jar that does not say so the jar's own name
	DependencyRust    = "crate"        // compiled into a program or library
	DependencyRuby    = "gem"          //
	DependencyPHP     = "composer"     // "vendor/package"
	DependencyPerl    = "perl"         // a module outside of packages
	DependencyLibrary = "library"      // a shared library that no package has
	DependencyProgram = "program"      // a file of the program's own: an executable, a script
	DependencyRuntime = "runtime"      // "python", "node", "java", "ruby", "php", "perl", "go", "rustc"
	DependencyOption  = "build-option" // how a program was built: "go GOAMD64"
	DependencyKernel  = "kernel"       //
	DependencyImage   = "image"        // the release of the system that the program's files lie in
)

// How a dependency is known, from the surest to the least sure.
const (
	SeenRunning   = "ran"       // a stack goes through it
	SeenMapped    = "mapped"    // its code was mapped by a process of the target
	SeenOpened    = "opened"    // a process of the target opened a file of it in the window
	SeenBuiltIn   = "built-in"  // what was mapped says that it is linked or packed into it
	SeenInstalled = "installed" // it lies beside those that ran; nobody saw it run
	SeenHost      = "host"      // of the host or the container
)

// dependenciesTable came with no schema of its own: readers that do not know it leave it out.
const dependenciesTable = "dependencies"

// Dependency is one thing that the target ran on, with its version, at one place. One that has
// several files with code has a row for each: Place and Hash are a file's.
type Dependency struct {
	Kind     string `parquet:"kind,dict"`     // one of Dependency…
	Name     string `parquet:"name,dict"`     // as its publisher calls it
	Version  string `parquet:"version,dict"`  // "" when it could not be told
	Place    string `parquet:"place,dict"`    // file, or folder without the last slash, as the target sees it
	Hash     string `parquet:"hash,dict"`     // build id of an ELF file, else "sha256:…" of the content; "" for folders
	Evidence string `parquet:"evidence,dict"` // one of Seen…
	Source   string `parquet:"source,dict"`   // the file that name and version were read from
	// Packages are what the names of its functions begin with where their stacks name no file of
	// it, separated by spaces: import paths of Go, packages of Java, crates.
	Packages string `parquet:"packages,dict"`
}
