package directory_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// TestLostDescriptionIsRepaired, and the documents are as they were.
func TestLostDescriptionIsRepaired(t *testing.T) {
	t.Parallel()
	path := private(t)
	write(t, create(t, path), train, "a", "")
	if err := os.Remove(filepath.Join(path, "store.json")); err != nil {
		t.Fatal(err)
	}
	for _, create := range []bool{false, true} {
		_, err := directory.Open(path, directory.Options{Create: create})
		if err == nil || !errors.Is(err, store.ErrUndescribed) || errors.Is(err, store.ErrNoStore) ||
			!strings.Contains(err.Error(), "gpupool store repair --store directory:"+path) {
			t.Errorf("create %v: got %v, want one that names the command", create, err)
		}
	}
	remains, err := directory.OpenRemains(path)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := remains.List(context.Background(), train.Kind)
	if err != nil || len(documents) != 1 || string(documents[0].Data) != "a" {
		t.Errorf("got %v and %v", documents, err)
	}
	put(t, filepath.Join(path, "memories", "a.json"), "{}")
	if strange, err := remains.Strange(context.Background()); err != nil || !cmp.Equal(strange, []string{"memories"}) {
		t.Errorf("strange are %v, and %v", strange, err)
	}
	if err := os.RemoveAll(filepath.Join(path, "memories")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds it described
		if err := remains.Describe(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"store.json": "{\"kind\":\"gpupool store\",\"version\":1}\n", "spot_pools/ap-singapore/train.json": "a"} {
		if data, err := os.ReadFile(filepath.Join(path, name)); err != nil || string(data) != want {
			t.Errorf("%s holds %q now: %v", name, data, err)
		}
	}
}

// TestUnreadableDescriptionIsKept.
func TestUnreadableDescriptionIsKept(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{"": store.ErrDamagedStore, `{"kind":"gpupool store","version":2}`: store.ErrNewerStore} {
		path := private(t)
		put(t, filepath.Join(path, "store.json"), text)
		remains, err := directory.OpenRemains(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := remains.Describe(context.Background()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if data, err := os.ReadFile(filepath.Join(path, "store.json")); err != nil || string(data) != text {
			t.Errorf("it holds %q now: %v", data, err)
		}
	}
}
