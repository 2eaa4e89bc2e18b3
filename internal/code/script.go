package code

import (
	"regexp"
	"strings"

	"culprit/recording"
)

// pythonFrozen are standard modules that CPython carries inside and names without a folder.
var pythonFrozen = wordSet(`_bootstrap.py _bootstrap_external.py zipimport.py abc.py codecs.py io.py _collections_abc.py
	_sitebuiltins.py genericpath.py ntpath.py posixpath.py os.py site.py stat.py runpy.py`)

// pythonLibrary tells source files that come with CPython or its packages.
var pythonLibrary = regexp.MustCompile(`^<frozen|/lib(64)?/(python|pypy)[0-9.]*/|` +
	`/site-packages/|/dist-packages/|\.zip/`)

// scriptLibrary tells source files that come with Ruby or PHP or their packages; "<" begins what is built in.
var scriptLibrary = regexp.MustCompile(`^<|/ruby/[0-9.]+/|/rubygems/|/gems/|/vendor_ruby/|/share/php|/vendor/|^phar:`)

// perlLibrary tells source files that come with Perl or its packages; "(" begins what was made at run time.
var perlLibrary = regexp.MustCompile(`^\(|/(share|lib|lib/[^/]+)/perl(5|-base|/)|/(lib|site)/perl5/|/site_perl/`)

// InPerl reports whether a frame is perl's interpreter running a script: the frames of its subs stand below it.
func InPerl(frame recording.Frame) bool {
	return frame.Kind == recording.KindNative && strings.HasPrefix(frame.Name, "Perl_runops_")
}

func pythonApplication(frame recording.Frame) bool {
	return !pythonLibrary.MatchString(frame.File) && !pythonFrozen[frame.File] && !strings.HasPrefix(frame.Name, "<frozen")
}

func nodeApplication(frame recording.Frame, files bool) bool {
	if strings.HasPrefix(frame.Name, "V8::") || strings.HasPrefix(frame.File, "node:") ||
		strings.HasPrefix(frame.File, "internal/") ||
		strings.Contains(frame.Name, "node:internal") {
		return false
	}
	// V8's builtins have no file where scripts have one.
	return frame.File != "" || !files
}

// PerlMain is a Perl script outside of its subs, and those of its package main that were declared with a plain sub, as
// whose name perl keeps where the unwinder does not look.
const PerlMain = "<top-level>"
