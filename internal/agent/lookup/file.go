package lookup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"culprit/internal/fleet/window"
	"culprit/recording"
)

// OfFile is what a window tells of a service, by the manifest that lies beside its recording: in
// the folder of an agent, in the store of a hub, or where `culprit fleet fetch` put both. A service
// that lists no processes stands for all of the recording.
func OfFile(path, service string) (*recording.Recording, error) {
	manifest, err := manifestBeside(path)
	if err != nil {
		return nil, err
	}
	if !runs(manifest, service) {
		var names []string
		for i := range manifest.Services {
			names = append(names, manifest.Services[i].Name)
		}
		return nil, fmt.Errorf("%s: no service %q in this window; there were %s", path, service, offered(names))
	}
	rec, err := recording.Open(path)
	if err != nil || service == Everything || isAll(manifest, service) {
		return rec, err
	}
	return ofService(rec, manifest, service), nil
}

func isAll(manifest *window.Window, service string) bool {
	return slices.ContainsFunc(manifest.Services, func(s window.Service) bool {
		return s.Name == service && len(s.Pids) == 0
	})
}

func manifestBeside(path string) (*window.Window, error) {
	at, is := strings.CutSuffix(path, window.RecordingSuffix)
	file, err := os.Open(at + window.ManifestSuffix)
	if !is || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no window of a host: --service needs its manifest beside it, %s", path,
			at+window.ManifestSuffix)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	defer file.Close()
	manifest, err := window.ReadManifest(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at+window.ManifestSuffix, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() != manifest.Bytes {
		return nil, fmt.Errorf("%s has %d bytes, the manifest beside it is of one with %d", path, info.Size(), manifest.Bytes)
	}
	return manifest, nil
}

// offered lists services for an error, the first ones of many.
func offered(services []string) string {
	services = slices.Compact(services)
	text := strings.Join(services[:min(len(services), maxOffered)], ", ")
	if more := len(services) - maxOffered; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
