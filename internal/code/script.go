package code

import (
	"regexp"
	"strings"

	"culprit/recording"
)

// pythonFrozen are standard modules that CPython (3.8 to 3.14) carries inside and names without a
// folder.
var pythonFrozen = wordSet(`_bootstrap.py _bootstrap_external.py zipimport.py abc.py codecs.py io.py
	_collections_abc.py _sitebuiltins.py genericpath.py ntpath.py posixpath.py os.py site.py stat.py
	runpy.py`)

// The folders of what is installed for all programs, by language: as the interpreters' own
// installers, Debian and Fedora lay them out. "<" begins what is built in.
var (
	pythonPackage  = regexp.MustCompile(`/site-packages/|/dist-packages/|\.zip/`)
	pythonStandard = regexp.MustCompile(`^<frozen|/lib(64)?/(python|pypy)[0-9.]*/`)
	scriptPackage  = regexp.MustCompile(`/rubygems/|/gems/|/vendor_ruby/|/share/php|/vendor/|^phar:`)
	scriptStandard = regexp.MustCompile(`^<|/ruby/[0-9.]+/`)
	perlPackage    = regexp.MustCompile(`/share/perl5/|/(lib|site)/perl5/|/site_perl/`)
	perlStandard   = regexp.MustCompile(`/(share|lib|lib/[^/]+)/perl(5|-base|/)`)
)

func fileOwner(file string, packages, standard *regexp.Regexp) Owner {
	switch {
	case packages.MatchString(file):
		return Package
	case standard.MatchString(file):
		return Standard
	}
	return Program
}

func pythonOwner(frame *recording.Frame) Owner {
	if pythonFrozen[frame.File] || strings.HasPrefix(frame.Name, "<frozen") {
		return Standard
	}
	return fileOwner(frame.File, pythonPackage, pythonStandard)
}

// unknownFile is what the unwinder writes for functions that V8 keeps without a script.
const unknownFile = "<unknown>"

func nodeOwner(frame *recording.Frame, around surroundings) Owner {
	switch {
	case strings.HasPrefix(frame.File, "node:"), strings.HasPrefix(frame.File, "internal/"),
		strings.Contains(frame.Name, "node:internal"):
		return Standard
	case strings.HasPrefix(frame.Name, "V8::"), frame.File == unknownFile,
		frame.File == "" && around.files:
		return Runtime // V8's builtins have no file where scripts have one
	case isPackaged(frame):
		return Package
	}
	return Program
}

// scriptOwner is whose a function of Ruby or PHP is.
func scriptOwner(frame *recording.Frame) Owner {
	if frame.File == "" {
		return Runtime
	}
	return fileOwner(frame.File, scriptPackage, scriptStandard)
}

// RunsPerl tells perl's interpreter running a script: the frames of its subs stand below it.
func RunsPerl(frame *recording.Frame) bool {
	return frame.Kind == recording.KindNative && strings.HasPrefix(frame.Name, "Perl_runops_")
}

// PerlMain is a Perl script outside of its subs, and those of its package main that were declared
// with a plain sub, as whose name perl keeps where the unwinder does not look.
const PerlMain = "<top-level>"

func perlOwner(frame *recording.Frame) Owner {
	switch {
	case frame.File == "":
		return Unnamed
	case frame.File[0] == '(':
		return Runtime // made at run time: "(eval 3)"
	}
	return fileOwner(frame.File, perlPackage, perlStandard)
}
