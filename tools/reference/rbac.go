package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// everything is all options that add rights.
func everything() manifests.Options {
	return manifests.Options{
		Namespace: manifests.DefaultNamespace, Image: "gpupool", Schedule: manifests.DefaultSchedule, Timeout: manifests.DefaultTimeout,
		Enforcement: manifests.DefaultEnforcement, FreezeSlots: manifests.DefaultFreezeSlots, CredentialsSecret: manifests.DefaultCredentialsSecret,
		BootstrapGroups: []string{"system:bootstrappers:gpupool"},
		Nodes:           manifests.Nodes{Mark: true, Cordon: true, Delete: true, NoticeWatch: true},
		Stock:           manifests.Stock{Pools: true}, API: true,
	}
}

// rights writes the page about roles.
func rights() (string, error) {
	all, err := manifests.Objects(everything())
	if err != nil {
		return "", err
	}
	accounts := map[string][]string{} // by role
	bind := func(role rbacv1.RoleRef, subjects []rbacv1.Subject) {
		for _, s := range subjects {
			accounts[role.Kind+role.Name] = append(accounts[role.Kind+role.Name], quoted(s.Name))
		}
	}
	for _, o := range all {
		switch o := o.Object.(type) {
		case *rbacv1.RoleBinding:
			bind(o.RoleRef, o.Subjects)
		case *rbacv1.ClusterRoleBinding:
			bind(o.RoleRef, o.Subjects)
		}
	}
	var b strings.Builder
	b.WriteString("The roles are those of `gpupool manifests` with all flags that add rights.\n\n## Roles\n\n")
	role := func(kind, scope, why string, of metav1.ObjectMeta, rules []rbacv1.PolicyRule) {
		fmt.Fprintf(&b, "### %s\n\n", of.Name)
		if why != "" {
			b.WriteString(why + "\n\n")
		}
		bound := cmp.Or(strings.Join(accounts[kind+of.Name], ", "), "none; you bind it to users")
		fmt.Fprintf(&b, "%s. ServiceAccounts: %s. Scope: %s.\n\n", kind, bound, scope)
		b.WriteString(table([]string{"resource", "names", "verbs"}, ruleRows(rules)) + "\n")
	}
	for _, o := range all {
		switch r := o.Object.(type) {
		case *rbacv1.Role:
			role("Role", "the namespace "+quoted(r.Namespace), o.Why, r.ObjectMeta, r.Rules)
		case *rbacv1.ClusterRole:
			role("ClusterRole", "the cluster", o.Why, r.ObjectMeta, r.Rules)
		}
	}
	b.WriteString("## Powers\n\nHow each right can be abused with an account of the manifests, and what the cluster refuses. " +
		"A test tries the refused calls.\n\n")
	b.WriteString(manifests.PowersTable())
	return b.String(), nil
}

// ruleRows returns the rows of rules, by resource.
func ruleRows(rules []rbacv1.PolicyRule) [][]string {
	var rows [][]string
	for _, r := range rules {
		names := ""
		if len(r.ResourceNames) > 0 {
			names = quoted(r.ResourceNames[0])
		}
		if n := len(r.ResourceNames); n > 1 {
			names += fmt.Sprintf(" to %s (%d)", quoted(r.ResourceNames[n-1]), n)
		}
		for _, resource := range r.Resources {
			rows = append(rows, []string{quoted(resource), names, strings.Join(r.Verbs, ", ")})
		}
	}
	slices.SortFunc(rows, func(a, b []string) int {
		return cmp.Or(strings.Compare(strings.Trim(a[0], "`"), strings.Trim(b[0], "`")), strings.Compare(a[1], b[1]))
	})
	return rows
}
