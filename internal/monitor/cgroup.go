package monitor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"culprit/internal/host"
)

// cgroupPrefix begins the names of the cgroups of a pair.
const cgroupPrefix = "culprit-monitored-"

// makeCgroups makes two cgroups below the one that this process runs in, with no controller turned
// on. Empty ones that a killed run left are removed.
func (p *pair) makeCgroups() {
	own, err := host.OwnGroup("/")
	if err != nil {
		p.noGroup = err
		return
	}
	stale, _ := filepath.Glob(filepath.Join(own, cgroupPrefix+"*")) // fails only on a bad pattern
	for _, path := range stale {
		_ = os.Remove(path) // fails where it is in use
	}
	for i := range p.cgroups {
		path := filepath.Join(own, fmt.Sprintf("%s%d-%d", cgroupPrefix, os.Getpid(), i))
		if err := os.Mkdir(path, 0o755); err != nil {
			p.noGroup = err
			return
		}
		p.made = append(p.made, path)
		if p.cgroups[i], err = os.Open(path); err != nil {
			p.noGroup = err
			return
		}
	}
}

func (p *pair) removeCgroups() {
	for _, group := range p.cgroups {
		if group != nil {
			group.Close()
		}
	}
	for _, path := range p.made {
		_ = os.Remove(path) // empty; one that stays costs nothing, and is removed the next time
	}
}

// grouped tells why the two are not in cgroups of their own, nil where they are.
func (p *pair) grouped() error {
	if p.noGroup == nil {
		return nil
	}
	text, _, _ := strings.Cut(p.noGroup.Error(), "\n")
	return errors.New(text)
}
