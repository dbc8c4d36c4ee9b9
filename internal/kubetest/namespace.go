package kubetest

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Namespace creates a namespace with labels as key=value, in which pods may be created, and returns
// its name. It is deleted when the test ends, without waiting.
func (c *Cluster) Namespace(t testing.TB, labels ...string) string {
	t.Helper()
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: name[:min(len(name), 50)] + "-",
		Labels:       pairs(t, labels),
	}}
	made := Create(t, c, namespace)
	WaitFor(t, "the service account of namespace "+made.Name, func(ctx context.Context) error {
		_, err := c.client.CoreV1().ServiceAccounts(made.Name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return made.Name
}

func pairs(t testing.TB, texts []string) map[string]string {
	t.Helper()
	if len(texts) == 0 {
		return nil
	}
	read := map[string]string{}
	for _, text := range texts {
		key, value, found := strings.Cut(text, "=")
		if !found {
			t.Fatalf("%q is not key=value", text)
		}
		read[key] = value
	}
	return read
}

// ServiceAccountKubeconfig creates the service account if needed, and writes a kubeconfig with a
// token for an hour, whose default namespace is the account's. It returns the file's path. Roles
// grant the account its rights.
func (c *Cluster) ServiceAccountKubeconfig(t testing.TB, namespace, name string) string {
	t.Helper()
	accounts := c.client.CoreV1().ServiceAccounts(namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := accounts.Create(t.Context(), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	hour := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}
	token, err := accounts.CreateToken(t.Context(), name, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   c.config.Host,
		CertificateAuthorityData: c.config.CAData,
		CertificateAuthority:     c.config.CAFile,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = name
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// afterwards runs at the end of the test, when its own context is over.
func afterwards(t testing.TB, do func(context.Context)) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		do(ctx)
	})
}
