package page

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// TestForeignAssetsAreUnchanged compares files of other projects with the list of their sources.
func TestForeignAssetsAreUnchanged(t *testing.T) {
	t.Parallel()
	lines := strings.Split(assetText("third-party.txt"), "\n")
	own := []string{"page.css", "page.js", "third-party.txt"}
	verified := 0
	for file := range versions() {
		if slices.Contains(own, file) {
			continue
		}
		verified++
		sum := sha256.Sum256([]byte(assetText(file)))
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, file+"  ") })
		if at < 0 || lines[at+1] != hex.EncodeToString(sum[:]) {
			t.Errorf("third-party.txt does not list %s with its SHA-256 %x", file, sum)
		}
	}
	if verified != 3 {
		t.Errorf("%d files are of other projects, want 3", verified)
	}
}
