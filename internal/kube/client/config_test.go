package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// kubeconfig is a file of two clusters.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: one, cluster: {server: "https://one.example:6443"}}
- {name: two, cluster: {server: "https://two.example:6443"}}
users:
- {name: admin, user: {token: file-token}}
- {name: reader, user: {token: reader-token}}
contexts:
- {name: one, context: {cluster: one, user: admin}}
- {name: two, context: {cluster: two, user: admin}}
`

func writeKubeconfig(t *testing.T) (home, path string) {
	t.Helper()
	home = t.TempDir()
	path = filepath.Join(home, ".kube", "config")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, path
}

func TestConfigTakesTheNamesOfTheKubernetesProvider(t *testing.T) {
	t.Parallel()
	home, path := writeKubeconfig(t)
	for name, test := range map[string]struct {
		config      kubeclient.Config
		environment map[string]string
		kubectl     bool
		host, token string
		user        string
	}{
		"config_path": {config: kubeclient.Config{ConfigPath: path}, host: "https://one.example:6443", token: "file-token"},
		"home":        {config: kubeclient.Config{ConfigPath: "~/.kube/config"}, host: "https://one.example:6443", token: "file-token"},
		"config_paths": {
			config: kubeclient.Config{ConfigPaths: []string{"~/missing", path}}, host: "https://one.example:6443", token: "file-token",
		},
		"config_context": {config: kubeclient.Config{ConfigPath: path, ConfigContext: "two"}, host: "https://two.example:6443", token: "file-token"},
		"config_context_cluster": {
			config: kubeclient.Config{ConfigPath: path, ConfigContextCluster: "two"}, host: "https://two.example:6443", token: "file-token",
		},
		"config_context_auth_info": {
			config: kubeclient.Config{ConfigPath: path, ConfigContextAuthInfo: "reader"}, host: "https://one.example:6443", token: "reader-token",
		},
		"host and token":        {config: kubeclient.Config{Host: "https://api.example", Token: "t"}, host: "https://api.example", token: "t"},
		"host without a scheme": {config: kubeclient.Config{Host: "127.0.0.1:8001"}, host: "http://127.0.0.1:8001"},
		"insecure is still TLS": {
			config: kubeclient.Config{Host: "api.example:6443", Token: "t", Insecure: true}, host: "https://api.example:6443", token: "t",
		},
		"KUBE_INSECURE, too": {
			environment: map[string]string{"KUBE_HOST": "api.example:6443", "KUBE_INSECURE": "true", "KUBE_TOKEN": "t"}, host: "https://api.example:6443",
			token: "t",
		},
		"its scheme is its own": {config: kubeclient.Config{Host: "http://api.example:8001", Insecure: true}, host: "http://api.example:8001"},
		"user": {
			config: kubeclient.Config{Host: "https://api.example", Username: "u", Password: "p"}, host: "https://api.example", user: "u",
		},
		"KUBE_CONFIG_PATH": {
			environment: map[string]string{"KUBE_CONFIG_PATH": "~/.kube/config", "KUBE_CTX": "two"}, host: "https://two.example:6443", token: "file-token",
		},
		"KUBE_CONFIG_PATHS": {
			environment: map[string]string{"KUBE_CONFIG_PATHS": path + ":/nowhere", "KUBE_CTX_AUTH_INFO": "reader"}, host: "https://one.example:6443",
			token: "reader-token",
		},
		"KUBE_HOST": {
			environment: map[string]string{"KUBE_HOST": "https://env.example", "KUBE_TOKEN": "e"}, host: "https://env.example", token: "e",
		},
		"KUBE_USER": {
			environment: map[string]string{"KUBE_HOST": "https://env.example", "KUBE_USER": "u", "KUBE_PASSWORD": "p"}, host: "https://env.example", user: "u",
		},
		"KUBECONFIG for kubectl": {environment: map[string]string{"KUBECONFIG": path}, kubectl: true, host: "https://one.example:6443", token: "file-token"},
		"kubectl's own default":  {kubectl: true, host: "https://one.example:6443", token: "file-token"},
		"argument beats variable": {
			config: kubeclient.Config{ConfigPath: path}, environment: map[string]string{"KUBE_CONFIG_PATH": "/nowhere"}, host: "https://one.example:6443",
			token: "file-token",
		},
		"host hides other clusters": {
			config: kubeclient.Config{Host: "https://api.example"}, environment: map[string]string{"KUBE_CONFIG_PATH": path}, host: "https://api.example",
		},
		"file hides KUBE_HOST": {
			config: kubeclient.Config{ConfigPath: path}, environment: map[string]string{"KUBE_HOST": "https://env.example"}, host: "https://one.example:6443",
			token: "file-token",
		},
		"own token hides KUBE_*": {
			config: kubeclient.Config{Host: "https://api.example", Token: "t"}, environment: map[string]string{"KUBE_USER": "u", "KUBE_PASSWORD": "p"},
			host: "https://api.example", token: "t",
		},
	} {
		getenv := func(key string) string {
			if key == "HOME" {
				return home
			}
			return test.environment[key]
		}
		config := test.config.WithEnvironment(getenv)
		if test.kubectl {
			config = config.WithKubectlDefaults(getenv)
		}
		got, err := config.REST()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Host != test.host || got.BearerToken != test.token || got.Username != test.user {
			t.Errorf("%s: got %s, token %q, user %q, want %s, %q, %q", name, got.Host, got.BearerToken, got.Username, test.host, test.token, test.user)
		}
	}
}

func TestMissingKubeconfigIsNamed(t *testing.T) {
	t.Parallel()
	getenv := func(key string) string { return map[string]string{"KUBECONFIG": "/nope"}[key] }
	_, err := kubeclient.Config{}.WithEnvironment(getenv).WithKubectlDefaults(getenv).REST()
	if !errors.Is(err, kubeclient.ErrNoConfiguration) || !strings.Contains(err.Error(), "KUBECONFIG is /nope") {
		t.Error(err)
	}
}

func TestConfigKeepsTLSAndExec(t *testing.T) {
	t.Parallel()
	got, err := kubeclient.Config{
		Host: "https://api.example", TLSServerName: "inner", ProxyURL: "http://proxy.example:3128",
		Exec: &kubeclient.Exec{APIVersion: "client.authentication.k8s.io/v1", Command: "tke-auth", Args: []string{"token"}, Env: map[string]string{"A": "b"}},
	}.REST()
	if err != nil {
		t.Fatal(err)
	}
	if got.ServerName != "inner" || got.Proxy == nil || got.ExecProvider == nil || got.ExecProvider.Command != "tke-auth" ||
		got.ExecProvider.Args[0] != "token" || got.ExecProvider.Env[0].Value != "b" {
		t.Errorf("got %+v with %+v", got, got.ExecProvider)
	}
}

func TestConfigErrorsSayWhatToDoAndNoSecret(t *testing.T) {
	t.Parallel()
	home, path := writeKubeconfig(t)
	damaged := filepath.Join(home, "damaged")
	if err := os.WriteFile(damaged, []byte("users:\n- name: a\n  user: {token: hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(home, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	noCurrent := filepath.Join(home, "no-current")
	if err := os.WriteFile(noCurrent, []byte(strings.Replace(kubeconfig, "current-context: one", "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(string) string { return "" }
	for name, test := range map[string]struct {
		config kubeclient.Config
		want   string
	}{
		"nothing":         {kubeclient.Config{}, "no Kubernetes cluster is configured"},
		"missing file":    {kubeclient.Config{ConfigPath: "/nowhere/config"}, "/nowhere/config does not exist"},
		"damaged file":    {kubeclient.Config{ConfigPath: damaged}, "reading the kubeconfig " + damaged},
		"empty file":      {kubeclient.Config{ConfigPath: empty}, "names no cluster"},
		"no context":      {kubeclient.Config{ConfigPath: noCurrent}, "has no current context"},
		"unknown context": {kubeclient.Config{ConfigPath: path, ConfigContext: "three"}, `context "three" does not exist`},
		"unknown user":    {kubeclient.Config{ConfigPath: path, ConfigContextAuthInfo: "missing"}, "missing"},
		"bad proxy":       {kubeclient.Config{ConfigPath: path, ProxyURL: "hunter2:hunter2@%zz"}, "proxy_url"},
		"bad host":        {kubeclient.Config{Host: "https://hunter2:hunter2@%zz"}, "host"},
		"bad certificate": {kubeclient.Config{Host: "https://a.example", ClientCertificate: "hunter2", ClientKey: "hunter2"}, "certificate"},
	} {
		config := test.config.WithEnvironment(getenv)
		_, err := config.REST()
		if err == nil {
			_, err = kubeclient.Open(config, "test")
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q and no secret", name, err, test.want)
		}
	}
	if _, err := (kubeclient.Config{}).REST(); !errors.Is(err, kubeclient.ErrNoConfiguration) {
		t.Errorf("got %v, want ErrNoConfiguration", err)
	}
	wrong := kubeclient.Config{Host: "https://a.example"}.WithEnvironment(func(key string) string {
		return map[string]string{"KUBE_INSECURE": "perhaps"}[key]
	})
	if _, err := wrong.REST(); err == nil || !strings.Contains(err.Error(), "KUBE_INSECURE") {
		t.Errorf("got %v, want KUBE_INSECURE named", err)
	}
}

// Without a scheme, a host whose certificate isn't to be verified is asked by TLS,
// credentials included.
func TestInsecureIsNotUnencrypted(t *testing.T) {
	t.Parallel()
	asked := make(chan *http.Request, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		http.NotFound(w, r)
	}))
	defer server.Close()
	client, err := kubeclient.Open(kubeclient.Config{Host: server.Listener.Addr().String(), Insecure: true, Token: "hush"}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.UID(t.Context()); err == nil {
		t.Fatal("a server that knows nothing answered")
	}
	select {
	case r := <-asked:
		if r.TLS == nil || r.Header.Get("Authorization") != "Bearer hush" {
			t.Errorf("asked with TLS %v, credentials %v", r.TLS != nil, r.Header.Get("Authorization") != "")
		}
	default:
		t.Error("the server was not asked by TLS")
	}
}
