package manifests_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

const (
	kubeadmGroup = "system:bootstrappers:kubeadm:default-node-token"
	ownGroup     = "system:bootstrappers:gpu"
	apiSecrets   = apiCore + "kube-system/secrets"
)

// tokenSecret is the Secret of a bootstrap token as a launch makes it, but for a change.
func tokenSecret(id string, changes ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + id, Annotations: map[string]string{"gpupool/pool-uid": "pool-1"},
		},
		Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
			"auth-extra-groups": kubeadmGroup, "expiration": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func tokenGroups(groups string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.StringData["auth-extra-groups"] = groups }
}

func tokenExpires(text string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.StringData["expiration"] = text }
}

func without64(key string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { delete(s.StringData, key) }
}

func unmarked(s *corev1.Secret) { s.Annotations = nil }

// makeTokens creates Secrets that must not be deleted: a token of kubeadm's, a Secret of a
// controller's, and one with the name of a token. A pool's token of another group must not be
// read or changed.
func makeTokens(t *testing.T, cluster *kubetest.Cluster) {
	t.Helper()
	for _, s := range []*corev1.Secret{
		tokenSecret("kubead", unmarked),
		tokenSecret("others", tokenGroups("system:bootstrappers:other")),
		{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "controller"}, StringData: map[string]string{"a": "b"}},
		{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-opaque", Annotations: map[string]string{"gpupool/pool-uid": "pool-1"},
			},
			StringData: map[string]string{"auth-extra-groups": kubeadmGroup},
		},
	} {
		kubetest.Create(t, cluster, s)
	}
}

// tokenAbuses are abuses of the right to create and delete bootstrap tokens.
func tokenAbuses() []abuse {
	all := []abuse{
		{right: "get secrets", what: "read a token", verb: http.MethodGet, path: apiSecrets + "/bootstrap-token-others"},
		{right: "list secrets", what: "list the tokens", verb: http.MethodGet, path: apiSecrets},
		{right: "list secrets", what: "watch the tokens", verb: http.MethodGet, path: apiSecrets + "?watch=true"},
		{
			right: "update secrets", what: "change a token", verb: http.MethodPut, path: apiSecrets + "/bootstrap-token-others",
			body: body(tokenSecret("others")),
		},
		{right: "delete secrets", what: "delete all tokens", verb: http.MethodDelete, path: apiSecrets},
		{right: "delete secrets", what: "delete kubeadm's token", verb: http.MethodDelete, path: apiSecrets + "/bootstrap-token-kubead"},
		{right: "delete secrets", what: "delete what is called like a token", verb: http.MethodDelete, path: apiSecrets + "/bootstrap-token-opaque"},
		{right: "delete secrets", what: "delete a controller's Secret", verb: http.MethodDelete, path: apiSecrets + "/controller"},
		{
			right: "create secrets", what: "make a token elsewhere", verb: http.MethodPost, path: apiCore + "RUN/secrets",
			body: strings.Replace(body(tokenSecret("mine00")), `"kube-system"`, `"RUN"`, 1),
		},
	}
	for what, s := range map[string]*corev1.Secret{
		"have it be of another type":        tokenSecret("mine01", func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }),
		"give it another name":              tokenSecret("mine02", func(s *corev1.Secret) { s.Name = "mine" }),
		"give it a longer name":             tokenSecret("mine03", func(s *corev1.Secret) { s.Name += ".gpupool" }),
		"have it be named":                  tokenSecret("mine04", func(s *corev1.Secret) { s.Name, s.GenerateName = "", "mine-" }),
		"give it another group":             tokenSecret("mine05", tokenGroups("system:bootstrappers:other")),
		"give it another group as well":     tokenSecret("mine06", tokenGroups(kubeadmGroup+",system:bootstrappers:other")),
		"give it a group that is longer":    tokenSecret("mine07", tokenGroups(kubeadmGroup+"s")),
		"give it a group that is shorter":   tokenSecret("mine08", tokenGroups("system:bootstrappers:gp")),
		"give it many groups":               tokenSecret("mine09", tokenGroups(strings.Repeat(ownGroup+",", 9)+ownGroup)),
		"give it no group":                  tokenSecret("mine10", without64("auth-extra-groups")),
		"give it an empty group":            tokenSecret("mine11", tokenGroups("")),
		"give it a group in other letters":  tokenSecret("mine12", tokenGroups("system:bootstrappers:gpü")),
		"give it a group and an end of it":  tokenSecret("mine13", tokenGroups(ownGroup+"\x00")),
		"have it never expire":              tokenSecret("mine14", without64("expiration")),
		"have it expire never":              tokenSecret("mine15", tokenExpires("")),
		"have it expire in two days":        tokenSecret("mine16", tokenExpires(time.Now().Add(48*time.Hour).UTC().Format(time.RFC3339))),
		"have it expire in a day and a bit": tokenSecret("mine17", tokenExpires(time.Now().Add(24*time.Hour+5*time.Minute).UTC().Format(time.RFC3339))),
		"have it expire elsewhere":          tokenSecret("mine18", tokenExpires(time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05-23:00"))),
		"have it expire in other words":     tokenSecret("mine19", tokenExpires("tomorrow")),
		"have it without an owner":          tokenSecret("mine20", unmarked),
		"have it be an empty name's":        tokenSecret("mine21", func(s *corev1.Secret) { s.Annotations["gpupool/pool-uid"] = "" }),
		"have it stay":                      tokenSecret("mine22", func(s *corev1.Secret) { s.Finalizers = []string{"example.com/stay"} }),
		"have it owned": tokenSecret("mine24", func(s *corev1.Secret) {
			s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "pod", UID: "a"}}
		}),
		"ask for an account's token": tokenSecret("mine23", func(s *corev1.Secret) {
			s.Type, s.Annotations["kubernetes.io/service-account.name"] = corev1.SecretTypeServiceAccountToken, "default"
		}),
	} {
		all = append(all, abuse{right: "create secrets", what: what, verb: http.MethodPost, path: apiSecrets, body: body(s)})
	}
	return all
}

func body(s *corev1.Secret) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Secret is nothing but texts
	}
	return string(text)
}

// makesTokens does what the right to make tokens is for, which is also to delete those of
// groups that a pool had before.
func makesTokens(t *testing.T, cluster *kubetest.Cluster, c *kubecluster.Cluster, account string) {
	t.Helper()
	secrets := cluster.Client().CoreV1().Secrets(metav1.NamespaceSystem)
	old := kubetest.Create(t, cluster, tokenSecret("olds"+account[len(account)-2:], tokenGroups("system:bootstrappers:before")))
	if err := c.DeleteToken(t.Context(), strings.TrimPrefix(old.Name, kubecluster.TokenPrefix)); err != nil {
		t.Errorf("deleting a token of the groups of before: %v", err)
	}
	for _, groups := range [][]string{{kubeadmGroup}, {ownGroup}, {ownGroup, kubeadmGroup}} {
		token := node.BootstrapToken{
			ID: "used" + account[len(account)-2:], Secret: "0123456789abcdef", Groups: groups, ExpiresAt: time.Now().Add(24 * time.Hour),
			Pool: "ap-singapore/train", PoolUID: "pool-1",
		}
		if taken, err := c.TokenTaken(t.Context(), token); err != nil || taken {
			t.Errorf("before it is made, it is there: %t (%v)", taken, err)
		}
		if err := c.CreateToken(t.Context(), token); err != nil {
			t.Fatalf("making a token of %v: %v", groups, err)
		}
		if taken, err := c.TokenTaken(t.Context(), token); err != nil || !taken {
			t.Errorf("once it is made, it is there: %t (%v)", taken, err)
		}
		if err := c.CreateToken(t.Context(), token); !errors.Is(err, node.ErrTokenExists) {
			t.Errorf("making it again: %v", err)
		}
		made, err := secrets.Get(t.Context(), "bootstrap-token-"+token.ID, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(made.Data["auth-extra-groups"]); got != strings.Join(groups, ",") || made.Type != corev1.SecretTypeBootstrapToken {
			t.Errorf("the token is of the groups %q and the type %s", got, made.Type)
		}
		for range 2 {
			if err := c.DeleteToken(t.Context(), token.ID); err != nil {
				t.Errorf("deleting it: %v", err)
			}
		}
		if _, err := secrets.Get(t.Context(), made.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the token is there: %v", err)
		}
	}
}

// makesToken makes and deletes a token.
func makesToken(w *world) error {
	c, id := kubecluster.New(w.client), w.home[len(w.home)-5:]+"a"
	if err := c.CreateToken(w.t.Context(), node.BootstrapToken{
		ID: id, Secret: "0123456789abcdef", Groups: []string{ownGroup}, ExpiresAt: time.Now().Add(time.Hour), PoolUID: "pool-1",
	}); err != nil {
		return err
	}
	return c.DeleteToken(w.t.Context(), id)
}
