package report

import (
	"bytes"
	"fmt"
	"regexp"
)

// policyOf finds the policy that the page carries for readers from disk.
var policyOf = regexp.MustCompile(`(?s)<meta http-equiv="Content-Security-Policy" content="([^"]+)">\n?`)

// ServedHead stands in a page that a server gives: its script then shows the way back, and asks the
// server where the page holds no case.
const ServedHead = `<meta name="culprit-served" content="yes">`

// ServedPolicy is the policy of a page that is served: what the page itself allows, and no frame
// around it.
func ServedPolicy() (string, error) {
	found := policyOf.FindSubmatch(template)
	if found == nil {
		return "", fmt.Errorf("read page: it has no policy: rebuild it in web/")
	}
	return string(found[1]) + "; frame-ancestors 'none'", nil
}

// LibraryPage is the page without a case: its script asks the server that gave it. Its policy is
// the served one with leave to ask that server, and nobody else.
func LibraryPage() (page []byte, policy string, err error) {
	if policy, err = ServedPolicy(); err != nil {
		return nil, "", err
	}
	page, err = fill(nil, "The library needs JavaScript; /api/library gives the same as JSON.")
	if err != nil {
		return nil, "", err
	}
	// The page's own policy would forbid it to ask.
	page = policyOf.ReplaceAll(page, nil)
	return bytes.Replace(page, []byte("<head>"), []byte("<head>\n"+ServedHead), 1), policy + "; connect-src 'self'", nil
}
