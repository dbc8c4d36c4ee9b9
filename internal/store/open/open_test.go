package open_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

func inDirectory(t *testing.T) (store.Location, open.Options) {
	t.Helper()
	return store.Location{Backend: store.Directory, Path: filepath.Join(t.TempDir(), "store")}, open.Options{}
}

func inNamespace(t *testing.T) (store.Location, open.Options) {
	t.Helper()
	cluster := kubetest.Start(t)
	return store.Location{Backend: store.Kubernetes, Namespace: cluster.Namespace(t)}, open.Options{
		Kubernetes: func() (*kubeclient.Client, error) {
			return kubeclient.Open(kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, "gpupool/test")
		},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(t *testing.T) (store.Location, open.Options){"directory": inDirectory, "kubernetes": inNamespace} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			location, o := at(t)
			s, err := open.Store(t.Context(), location, o)
			if !errors.Is(err, store.ErrNoStore) || s != nil {
				t.Fatalf("got %v and %v, want ErrNoStore alone", s, err)
			}
			for _, create := range []bool{true, false} {
				o.Create = create
				s, err := open.Store(t.Context(), location, o)
				if err != nil || s.String() != location.String() {
					t.Fatalf("got %v (%v), want %s", s, err, location)
				}
			}
		})
	}
}

func TestStoreRefusesWhatItCannotOpen(t *testing.T) {
	t.Parallel()
	misconfigured := func() (*kubeclient.Client, error) { return nil, errors.New("no such context") }
	for _, c := range []struct {
		location store.Location
		options  open.Options
		says     string
	}{
		{store.Location{Backend: "etcd"}, open.Options{}, "unknown kind"},
		{store.Location{Backend: store.Kubernetes, Namespace: "gpupool-system"}, open.Options{}, "needs a cluster"},
		{store.Location{Backend: store.Kubernetes, Namespace: "gpupool-system"}, open.Options{Kubernetes: misconfigured}, "no such context"},
	} {
		c.options.Create = true
		s, err := open.Store(t.Context(), c.location, c.options)
		if err == nil || s != nil || !strings.Contains(err.Error(), c.location.String()) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v and the error %v, want an error that names it and says %q", c.location, s, err, c.says)
		}
	}
}
