package open_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

func TestStore(t *testing.T) {
	t.Parallel()
	location := store.Location{Backend: store.Directory, Path: filepath.Join(t.TempDir(), "store")}
	s, err := open.Store(location, open.Options{})
	if !errors.Is(err, store.ErrNoStore) || s != nil {
		t.Fatalf("got %v and %v, want ErrNoStore alone", s, err)
	}
	for _, create := range []bool{true, false} {
		s, err := open.Store(location, open.Options{Create: create})
		if err != nil || s.String() != location.String() {
			t.Fatalf("got %v (%v), want %s", s, err, location)
		}
	}
}

func TestStoreRefusesWhatItCannotOpen(t *testing.T) {
	t.Parallel()
	for _, location := range []store.Location{{Backend: store.Kubernetes, Namespace: "gpupool-system"}, {Backend: "etcd"}} {
		s, err := open.Store(location, open.Options{Create: true})
		if err == nil || s != nil || !strings.Contains(err.Error(), location.String()) {
			t.Errorf("%s: got %v and the error %v, want an error that names it", location, s, err)
		}
	}
}
