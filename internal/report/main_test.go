package report

import (
	"os"
	"testing"

	"culprit/internal/report/browser"
)

// The tests that open pages share one browser.
func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }
