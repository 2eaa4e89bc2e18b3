package bisect

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// The ecosystems, as they stand before the colon of --package.
const (
	pypi   = "pypi"
	npm    = "npm"
	golang = "go"
	maven  = "maven"
	crate  = "crate"
)

// published asks an ecosystem's registry for all versions of a package, in no order. Where the
// ecosystem's own client lists them, it is asked: it knows mirrors, proxies and what was withdrawn.
func published(ctx context.Context, ecosystem, name, room string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	switch ecosystem {
	case pypi:
		text, err := client(ctx, room, "python3", "-m", "pip", "index", "versions", "--pre", "--", name)
		if err != nil {
			return nil, err
		}
		_, list, found := strings.Cut(text, "Available versions:")
		if !found {
			return nil, errors.New("pip lists no versions")
		}
		line, _, _ := strings.Cut(list, "\n")
		return strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' }), nil
	case npm:
		text, err := client(ctx, room, "npm", "view", "--json", "--", name, "versions")
		if err != nil {
			return nil, err
		}
		var versions []string
		if err := json.Unmarshal([]byte(text), &versions); err != nil {
			var only string // npm prints one version without a list
			if json.Unmarshal([]byte(text), &only) != nil {
				return nil, fmt.Errorf("read what npm lists: %w", err)
			}
			versions = []string{only}
		}
		return versions, nil
	case golang:
		text, err := client(ctx, room, "go", "list", "-m", "-versions", "-f", "{{join .Versions \" \"}}", name+"@latest")
		return strings.Fields(text), err
	case maven:
		group, artifact, _ := strings.Cut(name, ":")
		return ofMaven(ctx, group, artifact)
	}
	return ofCrates(ctx, name)
}

// client runs an ecosystem's own tool with its arguments as they are.
func client(ctx context.Context, folder, program string, arguments ...string) (string, error) {
	if _, err := exec.LookPath(program); err != nil {
		return "", fmt.Errorf("%s is not installed, which lists the versions; give them by --versions V1,V2,…", program)
	}
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = folder
	var printed, complained bytes.Buffer
	command.Stdout, command.Stderr = &printed, &complained
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s: %s", program, complaint(complained.String(), err))
	}
	return printed.String(), nil
}

// complaint is the line of a tool's errors that says most: the first one that is called an error.
func complaint(text string, err error) string {
	for line := range strings.Lines(text) {
		lower := strings.ToLower(line)
		if strings.Contains(lower, "error") || strings.Contains(lower, "not found") {
			return strings.TrimSpace(line)
		}
	}
	if line := firstLine(text); line != "" {
		return line
	}
	return err.Error()
}

const maxIndex = 64 << 20 // bytes

// download reads a document of a registry.
func download(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "culprit bisect")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusGone {
		return nil, errors.New("it is not in the registry")
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the registry answers %s", answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, maxIndex))
}

func ofMaven(ctx context.Context, group, artifact string) ([]string, error) {
	address := "https://repo1.maven.org/maven2/" + strings.ReplaceAll(url.PathEscape(group), ".", "/") + "/" +
		url.PathEscape(artifact) + "/maven-metadata.xml"
	text, err := download(ctx, address)
	if err != nil {
		return nil, err
	}
	var listed struct {
		Versions []string `xml:"versioning>versions>version"`
	}
	if err := xml.Unmarshal(text, &listed); err != nil {
		return nil, fmt.Errorf("read %s: %w", address, err)
	}
	return listed.Versions, nil
}

// ofCrates reads the sparse index; yanked versions cannot be installed.
func ofCrates(ctx context.Context, name string) ([]string, error) {
	lower := strings.ToLower(name)
	place := lower
	switch {
	case len(lower) <= 2:
		place = fmt.Sprintf("%d/%s", len(lower), lower)
	case len(lower) == 3:
		place = "3/" + lower[:1] + "/" + lower
	default:
		place = lower[:2] + "/" + lower[2:4] + "/" + lower
	}
	text, err := download(ctx, "https://index.crates.io/"+place)
	if err != nil {
		return nil, err
	}
	var versions []string
	for line := range bytes.Lines(text) {
		var one struct {
			Version string `json:"vers"`
			Yanked  bool   `json:"yanked"`
		}
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("read index of crates: %w", err)
		}
		if !one.Yanked {
			versions = append(versions, one.Version)
		}
	}
	return versions, nil
}
