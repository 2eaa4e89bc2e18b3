package report

import "testing"

// A side is called by the labels that the other one does not have, beside its host.
func TestTitlesTellTheSidesApart(t *testing.T) {
	c := &Comparison{
		A: ComparedSide{Command: "shop", Host: "h1", Labels: map[string]string{"version": "1", "zone": "eu"}},
		B: ComparedSide{Command: "shop", Host: "h1", Labels: map[string]string{"version": "2", "zone": "eu", "canary": ""}},
	}
	if a, b := c.titles(); a != "shop (version=1)" || b != "shop (canary=, version=2)" {
		t.Errorf("%q, %q", a, b)
	}
	c.B.Labels = c.A.Labels
	if a, b := c.titles(); a != "shop" || b != "shop" {
		t.Errorf("%q, %q", a, b)
	}
}
