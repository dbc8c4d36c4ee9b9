package directory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// TestDamagedDescriptionNamesRepair: its remedy keeps the documents.
func TestDamagedDescriptionNamesRepair(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	if _, err := directory.Open(path, directory.Options{Create: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "store.json"), []byte("\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := directory.Open(path, directory.Options{})
	if want := "move that file away, and then gpupool store repair --store directory:" + path; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("it says %v, not %q", err, want)
	}
}
