package serve_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// reader is a user who may read some namespaces.
type reader []string

func (r reader) sees(namespaces ...string) bool {
	return !slices.ContainsFunc(namespaces, func(of string) bool { return !slices.Contains(r, of) })
}

func (r reader) option(t *rapid.T) func(*serve.Options) {
	tokens, err := access.ParseTokens(fmt.Appendf(nil, "reader %x reader %s\n", sha256.Sum256([]byte("reader")), strings.Join(r, ",")))
	if err != nil {
		t.Fatal(err)
	}
	return func(o *serve.Options) { o.Authenticator, o.Loopback = tokens, false }
}

// names returns the names of objects, pods and places that a reader may not see, and the paths of pages of all objects.
func (r reader) names(s reconcile.StatusReport, pods map[string]string) (hidden, paths []string) {
	hidden = append(hidden, s.Store)
	note := func(path, name string, sees bool) {
		if paths = append(paths, path); !sees {
			hidden = append(hidden, name)
		}
	}
	for _, p := range s.SpotPools {
		note("/spotpools/"+p.Region+"/"+p.Name, p.Name, false)
	}
	for _, b := range s.Budgets {
		note("/budgets/"+b.Name, b.Name, r.sees(b.Selector.Namespaces...))
	}
	for _, p := range s.StockPools {
		note("/stockpools/"+p.Namespace+"/"+p.Name, p.Name, r.sees(p.Namespace))
	}
	for name, namespace := range pods {
		if !r.sees(namespace) {
			hidden = append(hidden, name)
		}
	}
	return hidden, paths
}

// TestNoReaderGetsAHiddenName reads random stores as a random reader, by each operation that reads and each page.
func TestNoReaderGetsAHiddenName(t *testing.T) {
	t.Parallel()
	responses, hiddenNames := 0, 0
	doc := api.Add(http.NewServeMux(), api.Options{Source: snapshot.New(teams(t).Process()), Version: "1.2.3", Jobs: newQueue()})
	rapid.Check(t, func(r *rapid.T) {
		s := randomStore(t, r, &chat{t: t})
		by := reader(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ml", "research", "web"}), 1, 2, rapid.ID[string]).Draw(r, "reader"))
		status, err := s.Runner().Status(t.Context())
		if err != nil {
			r.Fatal(err)
		}
		hidden, paths := by.names(status, s.pods)
		s.damage(r)
		h := handler(s.World, by.option(r))
		pages := paths
		for _, path := range pages {
			name := path[strings.LastIndex(path, "/")+1:]
			paths = append(paths, path+"/decisions")
			for of := range doc.Paths {
				paths = append(paths, target{"name": name, "namespace": by[0], "region": "ap-singapore", "id": "none"}.path(of))
			}
		}
		slices.Sort(paths)
		paths = append(slices.Compact(paths), "/", "/budgets", "/spotpools", "/stockpools", "/teams", "/teams/ml", "/teams/web",
			"/history?since=35d", "/metrics")
		for _, path := range paths {
			text := ask(t, h, http.MethodGet, path, "", "Authorization: Bearer reader").Body.String()
			responses++
			for _, name := range hidden {
				if at := strings.Index(text, name); at >= 0 && !strings.Contains(path, name) {
					r.Fatalf("a reader of %s finds %q by GET %s: …%s…", by, name, path, text[max(0, at-200):min(len(text), at+200)])
				}
			}
		}
		hiddenNames += len(hidden)
	})
	if responses < 100 || hiddenNames < 3 {
		t.Errorf("%d responses were read for %d hidden names", responses, hiddenNames)
	}
}
