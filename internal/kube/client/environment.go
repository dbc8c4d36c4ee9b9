package client

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// WithEnvironment fills in omitted arguments from environment variables, read through getenv. The names are
// those of the official Kubernetes provider (kubernetes/provider.go). Arguments win, and are not mixed with
// the environment. If they name a host, no kubeconfig of the environment is read, and vice versa. If they
// contain credentials, none is taken from the environment. Otherwise credentials of one cluster could go to
// another.
func (c Config) WithEnvironment(getenv func(string) string) Config {
	type variable struct {
		field *string
		name  string
	}
	fields := []variable{
		{&c.ConfigContext, "KUBE_CTX"},
		{&c.ConfigContextAuthInfo, "KUBE_CTX_AUTH_INFO"},
		{&c.ConfigContextCluster, "KUBE_CTX_CLUSTER"},
		{&c.TLSServerName, "KUBE_TLS_SERVER_NAME"},
		{&c.ClusterCACertificate, "KUBE_CLUSTER_CA_CERT_DATA"},
		{&c.ProxyURL, "KUBE_PROXY_URL"},
	}
	if c.Host == "" && c.ConfigPath == "" && len(c.ConfigPaths) == 0 {
		fields = append(fields, variable{&c.Host, "KUBE_HOST"}, variable{&c.ConfigPath, "KUBE_CONFIG_PATH"})
		if getenv("KUBE_CONFIG_PATH") == "" {
			c.ConfigPaths = filepath.SplitList(getenv("KUBE_CONFIG_PATHS"))
		}
	}
	if !c.hasCredentials() {
		fields = append(fields,
			variable{&c.Username, "KUBE_USER"}, variable{&c.Password, "KUBE_PASSWORD"}, variable{&c.Token, "KUBE_TOKEN"},
			variable{&c.ClientCertificate, "KUBE_CLIENT_CERT_DATA"}, variable{&c.ClientKey, "KUBE_CLIENT_KEY_DATA"})
	}
	for _, f := range fields {
		if *f.field == "" {
			*f.field = getenv(f.name)
		}
	}
	if v := getenv("KUBE_INSECURE"); v != "" && !c.Insecure {
		insecure, err := strconv.ParseBool(v)
		if err != nil {
			c.problem = fmt.Errorf("KUBE_INSECURE is %q: write true or false", v)
		}
		c.Insecure = insecure
	}
	c.home = getenv("HOME")
	c.inside = getenv("KUBERNETES_SERVICE_HOST") != "" && getenv("KUBERNETES_SERVICE_PORT") != ""
	return c
}

// WithKubectlDefaults lets the configuration fall back to what kubectl uses: the
// files that KUBECONFIG lists, else ~/.kube/config. The CLI does so; a provider
// doesn't, since what a plan acts on should not hang on a shell.
func (c Config) WithKubectlDefaults(getenv func(string) string) Config {
	c.home = getenv("HOME")
	c.optional = filepath.SplitList(getenv("KUBECONFIG"))
	c.named = len(c.optional) > 0
	if !c.named && c.home != "" {
		c.optional = []string{filepath.Join(c.home, ".kube", "config")}
	}
	return c
}
