package store_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]store.Location{
		"directory:.gpupool":          {Backend: store.Directory, Path: ".gpupool"},
		"directory:/var/lib/gpupool/": {Backend: store.Directory, Path: "/var/lib/gpupool"},
		"directory:a:b":               {Backend: store.Directory, Path: "a:b"},
		"directory:.":                 {Backend: store.Directory, Path: "."},
		"kubernetes:gpupool-system":   {Backend: store.Kubernetes, Namespace: "gpupool-system"},
	} {
		got, err := store.Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: got %+v (%v), want %+v", text, got, err, want)
		}
		again, err := store.Parse(got.String())
		if err != nil || again != got {
			t.Errorf("%s: written as %s, which is %+v (%v)", text, got, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "directory:DIR",
		"./pools":                "use directory:./pools",
		"etcd:pools":             `unknown kind "etcd"`,
		"Directory:pools":        `unknown kind "Directory"`,
		"directory:":             "lacks the path",
		"directory:~/pools":      "directory:$HOME/pools",
		"kubernetes:":            "cannot be a Kubernetes namespace",
		"kubernetes:Pools":       "cannot be a Kubernetes namespace",
		"kubernetes:a/b":         "cannot be a Kubernetes namespace",
		"s3://bucket/pools":      `unknown kind "s3"`,
		"directory:pools\x00too": "NUL",
	} {
		if got, err := store.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v and the error %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		argument string
		env      func(string) string
		want     string
	}{
		"the argument":    {"directory:a", environment("GPUPOOL_STORE", "directory:b"), "directory:a"},
		"the environment": {"", environment("GPUPOOL_STORE", "kubernetes:b"), "kubernetes:b"},
		"the default":     {"", environment(), "directory:.gpupool"},
	} {
		got, err := store.Resolve(c.argument, c.env)
		if err != nil || got.String() != c.want {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, c.want)
		}
	}
	if _, err := store.Resolve("", environment("GPUPOOL_STORE", "b")); err == nil || !strings.Contains(err.Error(), "GPUPOOL_STORE") {
		t.Errorf("a bad environment: got %v, want an error that names the variable", err)
	}
}

func TestStoresInAJob(t *testing.T) {
	t.Parallel()
	ci := environment("CI", "true")
	for text, warns := range map[string]bool{"directory:.gpupool": true, "directory:/srv/pools": false, "kubernetes:pools": false} {
		l, err := store.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.InJob(ci); got != warns {
			t.Errorf("%s in CI: %t", text, got)
		}
		if l.InJob(environment()) {
			t.Errorf("%s elsewhere is in a job", text)
		}
	}
}
