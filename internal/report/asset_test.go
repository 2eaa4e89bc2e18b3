package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

const webFolder = "../../web"

// TestAssetMatchesSources fails when the committed page was built from other sources.
func TestAssetMatchesSources(t *testing.T) {
	paths := []string{"build/finish.js", "index.html", "package-lock.json", "package.json", "tsconfig.json",
		"vite.config.js"}
	err := filepath.WalkDir(filepath.Join(webFolder, "src"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(webFolder, path)
		generated := slices.Contains([]string{"src/api/case.ts", "src/api/experiment.ts", "src/api/fleet.ts",
			"src/api/library.ts",
			"src/api/page.ts", "src/api/worth.ts"}, relative)
		if !generated { // types leave nothing in the page: see build/finish.js
			paths = append(paths, relative)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(paths)
	hash := sha256.New()
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(webFolder, path))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(hash, "%s\n%d\n%s", path, len(text), text)
	}
	want := fmt.Sprintf(`<meta name="culprit-source" content="%x">`, hash.Sum(nil))
	if !strings.Contains(string(template), want) {
		t.Error("assets/report.html was built from other sources: run make generate (npm ci && npm run build in web/)")
	}
	var packed bytes.Buffer
	compressor := gzip.NewWriter(&packed)
	_, err = compressor.Write(template)
	if err = errors.Join(err, compressor.Close()); err != nil {
		t.Fatal(err)
	}
	if packed.Len() > 150_000 {
		t.Errorf("the page has %d bytes before any data, compressed; want at most 150,000", packed.Len())
	}
}

// TestPolicyAllowsOnlyWhatIsInside checks that the page's policy lets run its
// own script and style, by their hashes, and nothing else.
func TestPolicyAllowsOnlyWhatIsInside(t *testing.T) {
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]+)"`).FindSubmatch(template)
	if policy == nil {
		t.Fatal("the page has no policy")
	}
	want := []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'"}
	for _, element := range []string{"script", "style"} {
		bodies := regexp.MustCompile(`(?s)<`+element+`\b[^>]*>(.*?)</`+element+`>`).FindAllSubmatch(template, -1)
		if len(bodies) != 1 {
			t.Fatalf("the page has %d %s elements, want 1", len(bodies), element)
		}
		sum := sha256.Sum256(bodies[0][1])
		want = append(want, fmt.Sprintf("%s-src 'sha256-%s'", element, base64.StdEncoding.EncodeToString(sum[:])))
	}
	got := strings.Split(string(policy[1]), "; ")
	sort.Strings(got)
	sort.Strings(want)
	if !slices.Equal(got, want) {
		t.Errorf("policy is %q, want %q", got, want)
	}
	for _, outside := range []string{`src="http`, `href="http`, `url(http`, "@import"} {
		if strings.Contains(string(template), outside) {
			t.Errorf("the page asks for something outside: %s", outside)
		}
	}
}
