package manifests_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// grant is one verb of one resource that a rule of a role gives to an account by a binding.
type grant struct {
	role, account         string
	verb, group, resource string
	namespace             string   // empty for all
	names                 []string // none for all
}

// allows reports whether the API server allows a call of the account by this grant.
func (g *grant) allows(c apiCall) bool {
	return g.verb == c.verb && g.group == c.group && g.resource == c.resource && (g.namespace == "" || g.namespace == c.namespace) &&
		(len(g.names) == 0 || slices.Contains(g.names, c.name))
}

// right names the grant without its role and account, as "patch nodes/status everywhere". The
// namespaces of --stock-namespaces count as everywhere.
func (g *grant) right() string {
	place := map[string]string{manifests.DefaultNamespace: inStore, metav1.NamespaceSystem: inSystem}[g.namespace]
	switch {
	case len(g.names) > 0:
		place = byName
	case place == "":
		place = inCluster
	}
	return g.verb + " " + strings.TrimPrefix(g.group+"/"+g.resource, "/") + " " + place
}

// grantsOf returns what the printed roles and bindings give to accounts.
func grantsOf(all []manifests.Object) []grant {
	rules := map[string][]rbacv1.PolicyRule{}
	var grants []grant
	bind := func(namespace string, role rbacv1.RoleRef, subjects []rbacv1.Subject) {
		in := namespace
		if role.Kind == "ClusterRole" {
			in = ""
		}
		for _, s := range subjects {
			for _, r := range rules[in+"/"+role.Name] {
				for _, group := range r.APIGroups {
					for _, resource := range r.Resources {
						for _, verb := range r.Verbs {
							grants = append(grants, grant{role.Name, s.Name, verb, group, resource, namespace, r.ResourceNames})
						}
					}
				}
			}
		}
	}
	for _, object := range all {
		switch of := object.Object.(type) {
		case *rbacv1.Role:
			rules[of.Namespace+"/"+of.Name] = of.Rules
		case *rbacv1.ClusterRole:
			rules["/"+of.Name] = of.Rules
		case *rbacv1.RoleBinding:
			bind(of.Namespace, of.RoleRef, of.Subjects)
		case *rbacv1.ClusterRoleBinding:
			bind("", of.RoleRef, of.Subjects)
		}
	}
	return grants
}

// granted returns who has each printed right.
func granted(t *testing.T, o manifests.Options) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, g := range grantsOf(objects(t, o)) {
		if right := g.right(); !slices.Contains(all[right], g.account) {
			all[right] = append(all[right], g.account)
		}
	}
	return all
}

// printed returns the rights of an account, as "list pods".
func printed(t *testing.T, o manifests.Options, account string) []string {
	t.Helper()
	var all []string
	for _, g := range grantsOf(objects(t, o)) {
		if g.account == account {
			all = append(all, g.verb+" "+g.resource)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// apiCall is a call of the API server, as RBAC sees it.
type apiCall struct{ verb, group, resource, namespace, name string }

// callOf returns the call of a path, by a verb of RBAC.
func callOf(verb, path string) (c apiCall, ok bool) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		c.group, parts = parts[1], parts[3:]
	default:
		return c, false
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		if c.namespace = parts[1]; len(parts) > 2 {
			parts = parts[2:]
		}
	}
	c.verb, c.resource = verb, parts[0]
	if len(parts) > 1 {
		c.name = parts[1]
	}
	if len(parts) > 2 {
		c.resource += "/" + parts[2]
	}
	return c, true
}

// callLog records what a client logs of its calls: those that were not forbidden, and how often each
// succeeded.
type callLog struct {
	mu        sync.Mutex
	calls     []apiCall
	succeeded map[string]int // by verb and resource
}

// Enabled records all levels.
func (*callLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle records a call.
func (l *callLog) Handle(_ context.Context, r slog.Record) error {
	var action, path string
	var status int64
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "action":
			action = a.Value.String()
		case "path":
			path = a.Value.String()
		case "status":
			status = a.Value.Int64()
		}
		return true
	})
	verb, _, _ := strings.Cut(action, " ")
	call, ok := callOf(verb, path)
	if !ok || status == 0 || status == 403 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.calls, call) {
		l.calls = append(l.calls, call)
	}
	if status < 300 {
		l.succeeded[action]++
	}
	return nil
}

// WithAttrs and WithGroup return the log itself: a client has neither.
func (l *callLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup returns the log itself.
func (l *callLog) WithGroup(string) slog.Handler { return l }

// times returns how often a call succeeded, such as "update leases".
func (l *callLog) times(action string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.succeeded[action]
}

// recorded returns the calls with the store's namespace as the manifests name it.
func (l *callLog) recorded(store string) []apiCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := slices.Clone(l.calls)
	for n := range calls {
		if calls[n].namespace == store {
			calls[n].namespace = manifests.DefaultNamespace
		}
	}
	return calls
}
