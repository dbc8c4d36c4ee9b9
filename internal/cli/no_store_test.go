package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingIsDoneWithoutAStore has a run bring declarations to a cluster that has
// no namespace for a store, and lets no user create one. What it launched would be
// remembered nowhere.
func TestNothingIsDoneWithoutAStore(t *testing.T) {
	t.Parallel()
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		status, answer := http.StatusNotFound,
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","details":{"kind":"namespaces"},"code":404}`
		if r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces" {
			status, answer = http.StatusForbidden,
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","details":{"kind":"namespaces"},"code":403}`
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(cluster.Close)
	w := newWorld(t, t.TempDir())
	for name, content := range map[string]string{
		"state.json": `{"format_version":"1.0","terraform_version":"1.9.0","values":{"root_module":{}}}`,
		"kubeconfig": `{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"` + cluster.URL +
			`"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}]}`,
	} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"reconcile", "--kubeconfig", "kubeconfig", "--store", "kubernetes:nowhere", "--from-state", "state.json"}
	p := w.start(args...)
	if code := p.exitCode(t); code != 1 || !strings.Contains(p.stderr(), "no store found") {
		t.Errorf("exit code %d\n%s%s", code, p.stdout(), p.stderr())
	}
	p = w.start(append(args, "--dry-run")...)
	if code := p.exitCode(t); code != 0 {
		t.Errorf("a dry run: exit code %d\n%s%s", code, p.stdout(), p.stderr())
	}
}
