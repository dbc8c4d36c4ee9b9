package manifests

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// TokenRules are the rights to create and delete bootstrap tokens in the namespace of their
// Secrets. A policy limits them further: see limits.bootstrapTokens.
func TokenRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{rule(core, "secrets", "create", "delete")}
}

// longestGroups limits the length that a policy reads, within the API server's cost limit.
const longestGroups = 512

// validateTokens returns why no policy can limit the accounts to these groups.
func (o Options) validateTokens() error {
	for _, group := range o.BootstrapGroups {
		if !node.BootstrapGroup(group) {
			return fmt.Errorf("%q is not a group of bootstrap tokens: use system:bootstrappers: and up to 256 lower-case letters, digits, colons "+
				"and hyphens", group)
		}
	}
	if all := len(strings.Join(o.BootstrapGroups, ",")); all > longestGroups {
		return fmt.Errorf("the groups in --bootstrap-groups have %d bytes in total, and an admission policy can read %d: use fewer or shorter "+
			"ones", all, longestGroups)
	}
	return nil
}

// bootstrapTokens limits the accounts to Secrets of bootstrap tokens with a pool's mark. New ones
// must have only the declared groups and expire within a day. Tokens of groups that were declared
// before can be deleted. Expressions that cannot be evaluated reject the request.
func (l limits) bootstrapTokens() []Object {
	if len(l.BootstrapGroups) == 0 {
		return nil
	}
	words := strings.NewReplacer("PREFIX", kubecluster.TokenPrefix, "TYPE", string(kubecluster.TokenType), "MARK", kubecluster.NodePoolAnnotation,
		"GROUPS", kubecluster.CELTexts(l.BootstrapGroups...))
	variables := []admissionv1.Variable{
		{Name: "secret", Expression: "request.operation == 'DELETE' ? oldObject : object"},
		{Name: "marks", Expression: "has(variables.secret.metadata.annotations) ? variables.secret.metadata.annotations : {}"},
		{Name: "data", Expression: "has(variables.secret.data) ? dyn(variables.secret.data) : dyn({})"},
		{Name: "characters", Expression: "'" + characters() + "'"},
	}
	variables = append(variables, decoded("expires", kubecluster.TokenExpiration, len("2006-01-02T15:04:05Z"))...)
	variables = append(variables, decoded("groups", kubecluster.TokenGroups, len(strings.Join(l.BootstrapGroups, ",")))...)
	all := l.policy("bootstrap-tokens",
		"It limits the accounts to creating and deleting the bootstrap tokens of pools: in "+kubecluster.TokenNamespace+
			", RBAC would let them do so with every Secret.",
		[]string{ReconcileAccount, TerraformAccount},
		[]admissionv1.NamedRuleWithOperations{ruleFor(core, []string{"secrets"}, admissionv1.Create, admissionv1.Update, admissionv1.Delete)}, variables,
		must(words.Replace("request.operation != 'UPDATE' && variables.secret.type == 'TYPE' && variables.secret.metadata.name.matches('^PREFIX[a-z0-9]{6}$')"),
			"in this namespace, gpupool may only create and delete bootstrap tokens"),
		must(words.Replace("'MARK' in variables.marks && variables.marks['MARK'] != ''"),
			"gpupool may only create and delete bootstrap tokens with a pool's mark"),
		must(words.Replace("request.operation == 'DELETE' || variables.groups.split(',').all(g, g in GROUPS)"),
			"gpupool creates no bootstrap token with groups outside of gpupool manifests --bootstrap-groups"),
		must("request.operation == 'DELETE' || variables.expires.matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$') && "+
			"timestamp(variables.expires) <= timestamp(dyn(object).metadata.creationTimestamp) + duration('24h')",
			"gpupool creates no bootstrap token that is valid for longer than a day"),
		must("request.operation == 'DELETE' || !has(object.metadata.finalizers) && !has(object.metadata.ownerReferences)",
			"gpupool creates no bootstrap token with finalizers or owners"),
	)
	for _, object := range all {
		if p, ok := object.Object.(*admissionv1.ValidatingAdmissionPolicy); ok {
			p.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: kubecluster.TokenNamespace},
			}
		}
	}
	return all
}

// characters maps each byte of groups and times to its character, and every other byte to a
// question mark, which neither contains.
func characters() string {
	table := slices.Repeat([]byte("?"), 256)
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789:,-TZ") {
		table[c] = c
	}
	return string(table)
}

// decoded are the variables with which a policy decodes a text of a Secret. It receives the data in
// base64, and its CEL has no function for that. A text that is too long, or has characters that no
// group and no time has, decodes to one that equals neither.
func decoded(name, key string, most int) []admissionv1.Variable {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	size := base64.StdEncoding.EncodedLen(most)
	numbers := func(step int) string {
		var list []string
		for n := 0; n < size; n += step {
			list = append(list, fmt.Sprint(n))
		}
		return "[" + strings.Join(list, ", ") + "].filter(i, i < variables.NAMECoded.size())"
	}
	words := strings.NewReplacer("NAME", name, "KEY", key)
	third := func(six string) string { return "variables.characters.charAt(" + six + ")" }
	return []admissionv1.Variable{
		{Name: name + "Coded", Expression: words.Replace("'KEY' in variables.data ? string(variables.data['KEY']) : ''")},
		{Name: name + "Sixes", Expression: words.Replace(numbers(1) + ".map(i, '" + alphabet + "'.indexOf(variables.NAMECoded.replace('=', 'A').charAt(i)))")},
		{Name: name, Expression: words.Replace(fmt.Sprintf("variables.NAMECoded == '' || variables.NAMECoded.size() > %d ? '?' : ",
			size) + numbers(4) + ".map(i, " +
			third("variables.NAMESixes[i] * 4 + variables.NAMESixes[i+1] / 16") + " + " +
			third("variables.NAMESixes[i+1] % 16 * 16 + variables.NAMESixes[i+2] / 4") + " + " +
			third("variables.NAMESixes[i+2] % 4 * 64 + variables.NAMESixes[i+3]") +
			").join('').substring(0, variables.NAMECoded.size() / 4 * 3 - (variables.NAMECoded.endsWith('==') ? 2 : " +
			"variables.NAMECoded.endsWith('=') ? 1 : 0))")},
	}
}
