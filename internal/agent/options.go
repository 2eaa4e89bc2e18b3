package agent

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"culprit/internal/agent/spool"
	"culprit/internal/fleet/window"
)

// The least and the most that makes sense.
const (
	leastEvery = time.Second
	mostEvery  = time.Hour
	mostFull   = 10 * time.Minute
	mostCost   = 0.5
)

// check says what makes no sense, and the way out.
func (o *Options) check() error {
	switch {
	case o.Folder == "":
		return fmt.Errorf("no folder for windows; give --dir DIR")
	case o.Keep < spool.LeastKeep:
		return fmt.Errorf("--keep of %d bytes holds no window; give at least 1MiB", o.Keep)
	case o.Every < o.leastEvery() || o.Every > mostEvery:
		return fmt.Errorf("--every %v: give a length between %v and %v, such as 1m", o.Every, o.leastEvery(), mostEvery)
	case o.Full < 0 || o.FullFor < 0:
		return fmt.Errorf("--full %v of %v: give lengths that are not negative, 0 for no full windows", o.Full, o.FullFor)
	case o.FullFor > mostFull || o.Full > 0 && (o.FullFor == 0 || o.FullFor >= o.Full):
		return fmt.Errorf("--full-for %v: give a length below that of --full, %v, and up to %v", o.FullFor, o.Full, mostFull)
	case o.Cost < 0 || o.Cost > mostCost:
		return fmt.Errorf("--cost: a share of %g of the host; give one up to 50%%, such as 0.5%%", o.Cost)
	case len(o.Host) > window.MaxName:
		return fmt.Errorf("--host: the name has %d bytes, at most %d", len(o.Host), window.MaxName)
	case len(o.Labels) > maxLabels:
		return fmt.Errorf("%d labels; give at most %d", len(o.Labels), maxLabels)
	case o.Hub == "" && o.TokenFile != "":
		return fmt.Errorf("--token-file is for --hub; give the hub's address too")
	case o.Hub != "" && o.TokenFile == "":
		return fmt.Errorf("--hub needs --token-file FILE with the token that the hub knows this host by")
	}
	var err error
	if o.Hub != "" {
		o.Hub, err = hubAddress(o.Hub)
	}
	if err == nil {
		o.Folder, err = filepath.Abs(o.Folder)
	}
	return err
}

// leastEvery lets a recorder of a test, which records nothing, have windows that are shorter.
func (o *Options) leastEvery() time.Duration {
	if o.start != nil {
		return leastEvery / 10
	}
	return leastEvery
}

// hubAddress reads the address of a hub. A token goes over TLS only, or stays on this host.
func hubAddress(text string) (string, error) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return "", fmt.Errorf("--hub %q is no address; give one such as https://hub.example.org:8430", text)
	}
	switch {
	case address.Scheme == "https":
	case address.Scheme == "http" && isLoopback(address.Hostname()):
	case address.Scheme == "http":
		return "", fmt.Errorf("--hub %s would send the token and all windows in the clear; give https://", text)
	default:
		return "", fmt.Errorf("--hub %s: give an address that begins with https://", text)
	}
	return strings.TrimSuffix(address.String(), "/"), nil
}

func isLoopback(name string) bool {
	address := net.ParseIP(name)
	return name == "localhost" || address != nil && address.IsLoopback()
}
