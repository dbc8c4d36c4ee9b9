package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// accessFlags are who can reach the server, and as whom.
type accessFlags struct {
	listen      string
	tlsCert     string
	tlsKey      string
	behindProxy bool
	tokensFile  string
	tokenReview bool

	session *process.Session
}

// warn reports that a changed file is invalid.
func (o *accessFlags) warn(consequence, file string, err error) {
	o.session.Warn(fmt.Sprintf("%s changed and cannot be read, so %s: %v", file, consequence, err))
}

func (o *accessFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:9171", "`ADDRESS` to listen on; port 0 selects a free port.")
	f := pflag.NewFlagSet("access", pflag.ContinueOnError)
	f.StringVar(&o.tlsCert, "tls-cert", "", "`FILE` with the certificate, with --tls-key. It is read again when it changes.")
	f.StringVar(&o.tlsKey, "tls-key", "", "`FILE` with the key of the certificate.")
	f.BoolVar(&o.behindProxy, "behind-proxy", false, "Serve without TLS for any host name, since a proxy in front has TLS. It needs users.")
	f.StringVar(&o.tokensFile, "tokens-file", "", "`FILE` of users, reread when it changes: lines of NAME SHA256 reader|requester NAMESPACE,... (* is all).")
	f.BoolVar(&o.tokenReview, "token-review", false, "Authenticate by TokenReview, and authorize by SubjectAccessReview, in the cluster.")
	process.AddFlags(cmd, "Access flags", f)
	for _, flag := range []string{"tls-cert", "tls-key", "tokens-file"} {
		_ = cmd.MarkFlagFilename(flag)
	}
	process.Exclusive(cmd, "tokens-file", "token-review", "each names the users")
	process.Exclusive(cmd, "tls-cert", "behind-proxy", "with a certificate, the server needs no proxy for TLS")
}

func (o *accessFlags) authenticated() bool { return o.tokensFile != "" || o.tokenReview }

// validate refuses an address that others can reach without TLS or tokens.
func (o *accessFlags) validate() error {
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return process.Usagef("--listen: invalid address %q: use HOST:PORT, such as 127.0.0.1:9171", o.listen)
	}
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return process.Usagef("--tls-cert and --tls-key need each other")
	}
	switch {
	case o.behindProxy && !o.authenticated():
		return process.Usagef("--behind-proxy: others reach the server by the proxy, so add --tokens-file, or --token-review in a cluster")
	case serve.Loopback(o.listen):
		return nil
	case o.tlsCert == "" && !o.behindProxy:
		return process.Usagef("--listen %s: others can reach it, so add --tls-cert and --tls-key, or --behind-proxy if a proxy in front has TLS", o.listen)
	case !o.authenticated():
		return process.Usagef("--listen %s: others can reach it, so add --tokens-file, or --token-review in a cluster", o.listen)
	}
	return nil
}

// authenticator returns who users are.
func (o *accessFlags) authenticator(client func() (*kubeclient.Client, error), now func() time.Time) (access.Authenticator, error) {
	switch {
	case o.tokensFile != "":
		tokens, err := serve.Tokens(o.tokensFile, func(err error) { o.warn("the last users stay", o.tokensFile, err) })
		if err != nil {
			return nil, fmt.Errorf("cannot read the tokens: %s: %w", o.tokensFile, err)
		}
		return tokens, nil
	case o.tokenReview:
		c, err := client()
		if err != nil {
			return nil, err
		}
		return &access.Cluster{Reviewer: reviewer{c}, Now: now}, nil
	}
	return access.Operator{}, nil
}

// open listens on the address. The configuration is nil without TLS.
func (o *accessFlags) open(ctx context.Context) (listener net.Listener, config *tls.Config, url string, err error) {
	scheme := "http://"
	if o.tlsCert != "" {
		config, err = serve.Certificate(o.tlsCert, o.tlsKey, func(err error) { o.warn("the last certificate stays", o.tlsCert, err) })
		if err != nil {
			return nil, nil, "", fmt.Errorf("cannot read the certificate: %w", err)
		}
		scheme = "https://"
	}
	if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", o.listen); err != nil {
		return nil, nil, "", fmt.Errorf("cannot listen on %s (--listen): %w", o.listen, err)
	}
	return listener, config, scheme + listener.Addr().String(), nil
}

// reviewer asks the cluster.
type reviewer struct{ client *kubeclient.Client }

func (r reviewer) ReviewToken(ctx context.Context, token string) (u access.Subject, ok bool, err error) {
	s, err := r.client.ReviewToken(ctx, token)
	if err != nil || !s.Authenticated {
		return u, false, err
	}
	u = access.Subject{Name: s.User.Username, UID: s.User.UID, Groups: s.User.Groups, Extra: map[string][]string{}}
	for key, values := range s.User.Extra {
		u.Extra[key] = values
	}
	return u, true, nil
}

func (r reviewer) ReviewAccess(ctx context.Context, u access.Subject, verb, group, resource, subresource, namespace string) (bool, error) {
	user := authentication.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups, Extra: map[string]authentication.ExtraValue{}}
	for key, values := range u.Extra {
		user.Extra[key] = values
	}
	return r.client.ReviewAccess(ctx, user, authorization.ResourceAttributes{
		Verb: verb, Group: group, Resource: resource, Subresource: subresource, Namespace: namespace,
	})
}
