package directory_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

func TestOpenWithoutAStore(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"no directory":    filepath.Join(t.TempDir(), "missing"),
		"empty directory": private(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := directory.Open(path, directory.Options{})
			if !errors.Is(err, store.ErrNoStore) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--store") {
				t.Errorf("got %v, want ErrNoStore with the path and the remedy", err)
			}
			if entries, _ := os.ReadDir(path); len(entries) > 0 {
				t.Errorf("it made %v", entries)
			}
			create(t, path)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		is    error
		says  string
	}{
		"newer":               {map[string]string{"store.json": `{"kind":"gpupool store","version":2,"novelty":{}}`}, store.ErrNewerStore, "upgrade gpupool"},
		"empty description":   {map[string]string{"store.json": ""}, store.ErrDamagedStore, "store.json"},
		"no JSON":             {map[string]string{"store.json": "version 1"}, store.ErrDamagedStore, "store.json"},
		"truncated":           {map[string]string{"store.json": `{"kind":"gpupool st`}, store.ErrDamagedStore, "store.json"},
		"trailing":            {map[string]string{"store.json": `{"kind":"gpupool store","version":1}}`}, store.ErrDamagedStore, "store.json"},
		"no version":          {map[string]string{"store.json": `{"kind":"gpupool store"}`}, store.ErrDamagedStore, "store.json"},
		"version of no sense": {map[string]string{"store.json": `{"kind":"gpupool store","version":-1}`}, store.ErrDamagedStore, "store.json"},
		"another's":           {map[string]string{"store.json": `{"kind":"grocery store","version":1}`}, store.ErrDamagedStore, "store.json"},
		"someone's directory": {map[string]string{"main.tf": "# mine"}, nil, "main.tf"},
		"description lost":    {map[string]string{"spot_pools/ap-singapore/train.json": "{}"}, store.ErrUndescribed, "gpupool store repair"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := private(t)
			for file, data := range c.files {
				put(t, filepath.Join(path, file), data)
			}
			before := tree(t, path)
			_, err := directory.Open(path, directory.Options{Create: true})
			if err == nil || c.is != nil && !errors.Is(err, c.is) {
				t.Fatalf("got %v, want %v", err, c.is)
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q must name %s and say %q", err, path, c.says)
			}
			if diff := cmp.Diff(before, tree(t, path)); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

func TestOpenAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "mine")
	for _, create := range []bool{false, true} {
		if _, err := directory.Open(path, directory.Options{Create: create}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("create %v: got %v", create, err)
		}
	}
}

func TestCreateThatWasKilledIsFinished(t *testing.T) {
	t.Parallel()
	path := private(t)
	put(t, filepath.Join(path, ".store.json.tmp"), `{"kind"`)
	put(t, filepath.Join(path, ".gitignore"), "")
	put(t, filepath.Join(path, "locks", ".writes", "00"), "")
	write(t, create(t, path), train, "a", "")
}

func TestOpenAStoreThatIsThereChangesNothing(t *testing.T) {
	t.Parallel()
	path := private(t)
	write(t, create(t, path), train, "a", "")
	before := tree(t, path)
	if got := create(t, path).String(); got != "directory:"+path {
		t.Errorf("it is called %s", got)
	}
	if diff := cmp.Diff(before, tree(t, path)); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

// Of two that begin at once, one may look for what else is there only when the other has
// made the store, and written documents.
func TestCreateWhatAnotherProcessMade(t *testing.T) {
	t.Parallel()
	path := private(t)
	write(t, create(t, path), train, "a", "")
	if err := directory.Create(path); err != nil {
		t.Error(err)
	}
}
