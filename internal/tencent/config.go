package tencent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// DefaultRegion is the region where neither an argument, the environment nor a
// profile names one; the official provider has the same.
const DefaultRegion = "ap-guangzhou"

const (
	defaultRootDomain       = "tencentcloudapi.com"
	defaultMetadataEndpoint = "http://metadata.tencentyun.com"
	defaultSessionDuration  = 7200
	maxSessionDuration      = 43200
)

// AssumeRole is a role to assume with other credentials (STS AssumeRole).
type AssumeRole struct {
	RoleARN         string
	SessionName     string
	SessionDuration int // seconds, 1 to 43200; 0: 7200
	Policy          string
	ExternalID      string
	SourceIdentity  string
	SerialNumber    string // of an MFA device
	TokenCode       string // of that device
}

// WebIdentity is a role to assume with an identity provider's token (STS
// AssumeRoleWithWebIdentity).
type WebIdentity struct {
	ProviderID           string // empty: "OIDC"
	WebIdentityToken     string
	WebIdentityTokenFile string // read again at each refresh
	RoleARN              string
	SessionName          string
	SessionDuration      int // seconds, 1 to 43200; 0: 7200
}

func (w WebIdentity) configured() bool {
	return w.WebIdentityToken != "" || w.WebIdentityTokenFile != ""
}

// PodOIDC is the identity that TKE gives a pod through its environment.
type PodOIDC struct {
	Region               string
	ProviderID           string
	WebIdentityTokenFile string
	RoleARN              string
}

// Config has the endpoints and credentials. Its zero value reads neither the environment nor
// any file; see WithEnvironment. The names are those of the official Terraform provider.
type Config struct {
	Region string // used where nothing else names a region

	SecretID      string
	SecretKey     string
	SecurityToken string

	SharedCredentialsDir string // holds <profile>.credential and <profile>.configure
	Profile              string // empty: "default"
	CredentialsFile      string // INI, asked last

	CamRoleName               string
	AssumeRole                AssumeRole
	AssumeRoleWithWebIdentity WebIdentity
	EnablePodOIDC             bool
	PodOIDC                   PodOIDC

	AllowedAccountIDs   []string // empty: any
	ForbiddenAccountIDs []string

	Protocol string // "HTTPS" (the default) or "HTTP"
	Domain   string // root domain; empty: tencentcloudapi.com
	// Endpoint is a URL for CVM, tag and STS. If it is set, no other host is called.
	Endpoint string
	// Currency is that of the account's prices; empty: see PriceCurrency.
	Currency string
	// MetadataEndpoint is the URL of the instance metadata service. If empty, it is Tencent
	// Cloud's own, or none if Endpoint is set.
	MetadataEndpoint string

	RequestClient string       // the caller's name for Tencent Cloud
	Logger        *slog.Logger // nil: silent

	LookupTimeout  time.Duration // of one credential lookup; 0: 5s
	AttemptTimeout time.Duration // of one HTTP request; 0: 30s
	CallTimeout    time.Duration // of one call with its retries; 0: 2m
	MaxAttempts    int           // of one call; 0: 6
	BackoffBase    time.Duration // 0: 300ms
	BackoffCap     time.Duration // 0: 5s
	// RateLimits are requests a second by action, over the defaults. Zero or
	// less means no limit.
	RateLimits map[string]float64

	problems []error // found while reading the environment
	now      func() time.Time
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

func (c Config) withDefaults() Config {
	orDefault(&c.Profile, "default")
	orDefault(&c.Protocol, "HTTPS")
	orDefault(&c.Domain, defaultRootDomain)
	orDefault(&c.RequestClient, "gpupool")
	orDefault(&c.LookupTimeout, 5*time.Second)
	orDefault(&c.AttemptTimeout, 30*time.Second)
	orDefault(&c.CallTimeout, 2*time.Minute)
	orDefault(&c.MaxAttempts, 6)
	orDefault(&c.BackoffBase, 300*time.Millisecond)
	orDefault(&c.BackoffCap, 5*time.Second)
	if c.Endpoint == "" {
		orDefault(&c.MetadataEndpoint, defaultMetadataEndpoint)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate finds everything wrong with the configuration that can be known
// without asking anyone.
func (c Config) validate() error {
	problems := c.problems
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if p := strings.ToUpper(c.Protocol); p != "HTTP" && p != "HTTPS" {
		add("protocol must be HTTP or HTTPS, not %q", c.Protocol)
	}
	if strings.ContainsAny(c.Domain, "/: ") {
		add("domain must be a root domain such as %q, not %q; a URL belongs into endpoint", defaultRootDomain, c.Domain)
	}
	if err := c.CheckCurrency(); err != nil {
		problems = append(problems, err)
	}
	if (c.SecretID == "") != (c.SecretKey == "") {
		add("secret_id and secret_key belong together, and only one of them is set")
	}
	for _, e := range []struct{ name, value string }{
		{"region", c.Region}, {"secret_id", c.SecretID}, {"secret_key", c.SecretKey}, {"security_token", c.SecurityToken},
	} {
		if strings.ContainsFunc(e.value, func(r rune) bool { return r <= ' ' || r > '~' }) { // no value is quoted: three are secret
			add("%s has a space, a line's end or another character that no %s has: copy it again without what stands around it", e.name, e.name)
		}
	}
	for _, e := range []struct{ name, value string }{{"endpoint", c.Endpoint}, {"metadata endpoint", c.MetadataEndpoint}} {
		if _, err := parseEndpoint(e.value); e.value != "" && err != nil {
			add("the %s %q %w", e.name, e.value, err)
		}
	}
	if err := c.checkPlain(); err != nil {
		problems = append(problems, err)
	}
	for _, d := range []int{c.AssumeRole.SessionDuration, c.AssumeRoleWithWebIdentity.SessionDuration} {
		if d < 0 || d > maxSessionDuration {
			add("session_duration must be 1 to %d seconds, not %d", maxSessionDuration, d)
		}
	}
	return errors.Join(problems...)
}

func parseEndpoint(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.User != nil {
		return nil, errors.New(`is not a URL such as "http://127.0.0.1:9170"`)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

func (c Config) address(service string) (scheme, host, path string) {
	if u, err := parseEndpoint(c.Endpoint); err == nil {
		return u.Scheme, u.Host, u.Path
	}
	return strings.ToLower(c.Protocol), service + "." + c.Domain, ""
}

// CheckCurrency refuses an unknown currency.
func (c Config) CheckCurrency() error { return spotpool.Currency(c.Currency).Check() }

// PriceCurrency returns the currency of the account's prices: the configured one, or else that of
// the endpoint or the domain. Responses do not name it.
func (c Config) PriceCurrency() spotpool.Currency {
	if configured, err := spotpool.ParseCurrency(c.Currency); err == nil {
		return configured
	}
	if u, err := parseEndpoint(c.Endpoint); err == nil {
		return spotpool.CurrencyOf(u.Hostname())
	}
	return spotpool.CurrencyOf(c.Domain)
}

// addressOf is a service's address as people read it.
func (c Config) addressOf(service string) string {
	scheme, host, path := c.address(service)
	return scheme + "://" + host + path
}

// hosts lists the only hosts that may be called.
func (c Config) hosts() map[string]bool {
	hosts := map[string]bool{}
	for _, service := range []string{serviceCVM, serviceTag, serviceSTS} {
		_, host, _ := c.address(service)
		hosts[host] = true
	}
	if u, err := parseEndpoint(c.MetadataEndpoint); err == nil {
		hosts[u.Host] = true
	}
	return hosts
}
