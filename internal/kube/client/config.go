package client

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways to sign in that a kubeconfig may name
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Exec is a command that prints credentials (client.authentication.k8s.io).
type Exec struct {
	APIVersion string
	Command    string
	Args       []string
	Env        map[string]string
}

// Config is the address of a cluster and the credentials. The names and their meaning
// are those of the official Kubernetes provider (hashicorp/kubernetes). Its zero
// value reads neither the environment nor any file; see WithEnvironment.
type Config struct {
	ConfigPath            string   // of a kubeconfig; ~ is the home directory
	ConfigPaths           []string // of several that are merged, the first one winning
	ConfigContext         string
	ConfigContextAuthInfo string
	ConfigContextCluster  string

	Host                 string
	TLSServerName        string
	Insecure             bool   // the server's certificate is not verified
	ClusterCACertificate string // PEM
	ProxyURL             string

	Username          string
	Password          string
	Token             string
	ClientCertificate string // PEM
	ClientKey         string // PEM
	Exec              *Exec

	Logger *slog.Logger // of each call, at the level debug; nil: silent

	// home is what ~ stands for, and optional are kubeconfigs that are read where
	// nothing else says how to reach a cluster.
	home     string
	optional []string
	named    bool // the optional kubeconfigs, by KUBECONFIG
	inside   bool // of a pod, whose service account may serve
	problem  error
}

// ErrNoConfiguration says that nothing tells how to reach a cluster.
var ErrNoConfiguration = errors.New("no Kubernetes cluster is configured: " +
	"give config_path (--kubeconfig, KUBE_CONFIG_PATH or KUBECONFIG) or host, or run inside a cluster")

// hasCredentials reports whether the configuration contains credentials.
func (c Config) hasCredentials() bool {
	return c.Username != "" || c.Password != "" || c.Token != "" || c.ClientCertificate != "" || c.ClientKey != "" || c.Exec != nil
}

// files are the kubeconfigs to read, and whether all may be missing.
func (c Config) files() (paths []string, optional bool) {
	switch {
	case c.ConfigPath != "":
		return []string{c.expand(c.ConfigPath)}, false
	case len(c.ConfigPaths) > 0:
		for _, p := range c.ConfigPaths {
			paths = append(paths, c.expand(p))
		}
		return paths, false
	case c.Host == "":
		return slices.Clone(c.optional), true
	}
	return nil, true
}

// expand puts the home directory in the place of a leading ~.
func (c Config) expand(path string) string {
	if path != "~" && !strings.HasPrefix(path, "~/") || c.home == "" {
		return path
	}
	return filepath.Join(c.home, path[1:])
}

// REST is the configuration of client-go. It makes no call. The error says what
// is missing or wrong, and is ErrNoConfiguration where nothing is configured.
func (c Config) REST() (*rest.Config, error) {
	if c.problem != nil {
		return nil, c.problem
	}
	loaded, err := c.load()
	if err != nil {
		return nil, err
	}
	if c.Host == "" && len(loaded.Clusters) == 0 {
		switch {
		case c.inside:
		case c.named:
			return nil, fmt.Errorf("KUBECONFIG is %s, which does not exist or has no cluster: %w", strings.Join(c.optional, string(filepath.ListSeparator)),
				ErrNoConfiguration)
		default:
			return nil, ErrNoConfiguration
		}
		cluster, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("signing in with the pod's service account: %w", err)
		}
		return cluster, nil
	}
	overrides, err := c.overrides()
	if err != nil {
		return nil, err
	}
	if c.Host == "" && c.ConfigContext == "" && c.ConfigContextCluster == "" && loaded.CurrentContext == "" {
		return nil, fmt.Errorf("%s has no current context: name one as config_context (--context, KUBE_CTX)", c.describe())
	}
	out, err := clientcmd.NewNonInteractiveClientConfig(*loaded, c.ConfigContext, overrides, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.describe(), err)
	}
	return out, nil
}

// describe names where the configuration comes from.
func (c Config) describe() string {
	if paths, _ := c.files(); len(paths) > 0 {
		return "the kubeconfig " + strings.Join(paths, string(filepath.ListSeparator))
	}
	return "the Kubernetes configuration"
}

// load reads and merges the kubeconfigs.
func (c Config) load() (*api.Config, error) {
	paths, optional := c.files()
	there := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, err := os.Stat(p)
		return errors.Is(err, fs.ErrNotExist)
	})
	if len(there) == 0 {
		if optional {
			return api.NewConfig(), nil
		}
		return nil, fmt.Errorf("%s does not exist: check config_path (--kubeconfig, KUBE_CONFIG_PATH)", c.describe())
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: there, Warner: func(error) {}}
	loaded, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", c.describe(), err)
	}
	if len(loaded.Clusters) == 0 && c.Host == "" && !optional {
		return nil, fmt.Errorf("%s names no cluster", c.describe())
	}
	return loaded, nil
}

// overrides are the arguments that override the kubeconfig.
func (c Config) overrides() (*clientcmd.ConfigOverrides, error) {
	o := &clientcmd.ConfigOverrides{
		CurrentContext: c.ConfigContext,
		Context:        api.Context{AuthInfo: c.ConfigContextAuthInfo, Cluster: c.ConfigContextCluster},
		ClusterInfo: api.Cluster{
			InsecureSkipTLSVerify: c.Insecure, TLSServerName: c.TLSServerName,
			CertificateAuthorityData: []byte(c.ClusterCACertificate), ProxyURL: c.ProxyURL,
		},
		AuthInfo: api.AuthInfo{
			Username: c.Username, Password: c.Password, Token: c.Token,
			ClientCertificateData: []byte(c.ClientCertificate), ClientKeyData: []byte(c.ClientKey),
		},
	}
	if c.ProxyURL != "" {
		if u, err := url.Parse(c.ProxyURL); err != nil || u.Host == "" {
			return nil, errors.New("proxy_url (KUBE_PROXY_URL) is not a URL with a scheme and a host") // it may hold a password
		}
	}
	if c.Host != "" {
		// As in the official provider, any TLS argument selects TLS.
		secure := c.ClusterCACertificate != "" || c.ClientCertificate != "" || c.Insecure
		host, _, err := rest.DefaultServerURL(c.Host, "", schema.GroupVersion{}, secure)
		if err != nil {
			return nil, errors.New("host (KUBE_HOST) is not the address of an API server, such as https://10.0.0.1:6443")
		}
		o.ClusterInfo.Server = host.String()
	}
	if e := c.Exec; e != nil {
		o.AuthInfo.Exec = &api.ExecConfig{
			APIVersion: e.APIVersion, Command: c.expand(e.Command), Args: e.Args,
			InteractiveMode: api.IfAvailableExecInteractiveMode,
		}
		for name, value := range e.Env {
			o.AuthInfo.Exec.Env = append(o.AuthInfo.Exec.Env, api.ExecEnvVar{Name: name, Value: value})
		}
	}
	return o, nil
}
