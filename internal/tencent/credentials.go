package tencent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// credentials are one secret, temporary where expires is set.
type credentials struct {
	secretID  string
	secretKey string
	token     string
	expires   time.Time
}

// The SDK calls these methods (common.CredentialIface). A credentials value never
// changes, so that one request never mixes two secrets.
func (c credentials) GetSecretId() string  { return c.secretID } //nolint:staticcheck // the SDK's name
func (c credentials) GetSecretKey() string { return c.secretKey }
func (c credentials) GetToken() string     { return c.token }
func (c credentials) GetCredential() (string, string, string) {
	return c.secretID, c.secretKey, c.token
}

func (c credentials) LogValue() slog.Value { return slog.StringValue("(secret)") }

func (c credentials) String() string { return "(secret)" }

type source interface {
	describe() string // for people
	retrieve(ctx context.Context) (credentials, error)
}

// keyring hands out a source's credentials, and renews temporary ones before they
// expire.
type keyring struct {
	source  source
	timeout time.Duration
	now     func() time.Time
	logger  *slog.Logger
	// identity is the ARN of the credentials; nil until it is known.
	identity atomic.Pointer[string]

	mu       *semaphore.Weighted // a lock that one can stop waiting for
	current  credentials
	obtained time.Time
	retryAt  time.Time
}

func newKeyring(s source, c Config) *keyring {
	return &keyring{source: s, timeout: c.LookupTimeout, now: c.now, logger: c.Logger, mu: semaphore.NewWeighted(1)}
}

// retryRenewal is the pause after a renewal that failed while the old credentials are
// still good.
const retryRenewal = 30 * time.Second

// get returns credentials that are good now. A renewal that fails is a warning while
// the old ones are good, and then an error.
func (k *keyring) get(ctx context.Context) (credentials, error) {
	if err := k.mu.Acquire(ctx, 1); err != nil {
		return credentials{}, err
	}
	defer k.mu.Release(1)
	now := k.now()
	if !k.due(now) {
		return k.current, nil
	}
	limited, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	renewed, err := k.source.retrieve(limited)
	if err == nil {
		k.current, k.obtained, k.retryAt = renewed, now, time.Time{}
		return renewed, nil
	}
	if ctx.Err() != nil {
		return credentials{}, ctx.Err()
	}
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s: %w", k.timeout, err)
	}
	err = fmt.Errorf("credentials from %s: %w", k.source.describe(), err)
	if k.current.secretID != "" && now.Before(k.current.expires) {
		k.retryAt = now.Add(retryRenewal)
		k.logger.Warn("credentials could not be renewed yet", "detail", err.Error(), "expires", k.current.expires)
		return k.current, nil
	}
	return credentials{}, err
}

// discard forgets refused temporary credentials, so that the next get renews them. It reports
// whether that may help: a fixed secret stays as it is.
func (k *keyring) discard(refused credentials) bool {
	if refused.expires.IsZero() {
		return false
	}
	_ = k.mu.Acquire(context.Background(), 1) // never fails; held for no longer than one lookup
	defer k.mu.Release(1)
	if k.current == refused {
		k.current = credentials{}
	}
	return true
}

// due reports whether to look up credentials. They are due if there are none, or if at most a
// tenth of their lifetime, and at most ten minutes, is left.
func (k *keyring) due(now time.Time) bool {
	switch {
	case k.current.secretID == "":
		return true
	case k.current.expires.IsZero():
		return false
	case !now.Before(k.current.expires):
		return true
	}
	margin := min(k.current.expires.Sub(k.obtained)/10, 10*time.Minute)
	return !now.Before(k.current.expires.Add(-margin)) && !now.Before(k.retryAt)
}

type fixed struct {
	credentials
	from string
}

func (f fixed) describe() string                              { return f.from }
func (f fixed) retrieve(context.Context) (credentials, error) { return f.credentials, nil }

// login is the source of credentials, and the region of the profile, if one was used.
type login struct {
	keys   *keyring
	region string
}

// logIn chooses where credentials come from, in the official provider's order: a
// pod's or a web identity, a CVM role, a secret, a profile's file. A role to assume
// is assumed with whichever was found.
func logIn(c Config, a *api) (login, error) {
	var l login
	base, role, err := baseSource(c, a, &l)
	if err != nil {
		return l, err
	}
	if role.RoleARN != "" {
		base = assumedRole{api: a, base: newKeyring(base, c), role: role, region: c.regionOr(l.region)}
	}
	l.keys = newKeyring(base, c)
	return l, nil
}

func baseSource(c Config, a *api, l *login) (source, AssumeRole, error) {
	region := c.regionOr("")
	switch {
	case c.EnablePodOIDC:
		if c.PodOIDC.ProviderID == "" || c.PodOIDC.WebIdentityTokenFile == "" || c.PodOIDC.RoleARN == "" {
			return nil, AssumeRole{}, errors.New("enable_pod_oidc needs TKE_PROVIDER_ID, TKE_WEB_IDENTITY_TOKEN_FILE and TKE_ROLE_ARN in the " +
				"environment: use a service account that is bound to a CAM role, or remove enable_pod_oidc")
		}
		if c.PodOIDC.Region != "" {
			region = c.PodOIDC.Region
		}
		return webIdentity{api: a, region: region, from: "the pod's identity (TKE_*)", identity: WebIdentity{
			ProviderID: c.PodOIDC.ProviderID, WebIdentityTokenFile: c.PodOIDC.WebIdentityTokenFile, RoleARN: c.PodOIDC.RoleARN,
		}}, c.AssumeRole, nil
	case c.AssumeRoleWithWebIdentity.configured():
		if c.AssumeRoleWithWebIdentity.RoleARN == "" {
			return nil, AssumeRole{}, errors.New("assume_role_with_web_identity needs a role_arn")
		}
		return webIdentity{api: a, region: region, from: "assume_role_with_web_identity", identity: c.AssumeRoleWithWebIdentity}, c.AssumeRole, nil
	case c.CamRoleName != "":
		if c.MetadataEndpoint == "" {
			return nil, AssumeRole{}, fmt.Errorf("cam_role_name %q needs the instance metadata service, and with an endpoint set no other host is called: "+
				"set GPUPOOL_METADATA_ENDPOINT too, or take cam_role_name out", c.CamRoleName)
		}
		return camRole{api: a, endpoint: c.MetadataEndpoint, name: c.CamRoleName}, c.AssumeRole, nil
	case c.SecretID != "":
		return fixed{credentials{secretID: c.SecretID, secretKey: c.SecretKey, token: c.SecurityToken}, "secret_id and secret_key"}, c.AssumeRole, nil
	}
	return fileSource(c, l)
}

// fileSource reads a secret from the files of the command-line tools.
func fileSource(c Config, l *login) (source, AssumeRole, error) {
	var searched []string
	if c.SharedCredentialsDir != "" {
		p, path, err := readProfile(c.SharedCredentialsDir, c.Profile)
		if err != nil {
			return nil, AssumeRole{}, err
		}
		searched = append(searched, path)
		l.region = p.region
		if p.secretID != "" && p.secretKey != "" {
			role := c.AssumeRole
			if role.RoleARN == "" && p.roleARN != "" && p.roleSession != "" {
				role = AssumeRole{RoleARN: p.roleARN, SessionName: p.roleSession}
			}
			return fixed{p.credentials, path}, role, nil
		}
	}
	if c.CredentialsFile != "" {
		found, err := readCredentialsFile(c.CredentialsFile)
		if err != nil {
			return nil, AssumeRole{}, err
		}
		searched = append(searched, c.CredentialsFile)
		if found.secretID != "" {
			return fixed{found, c.CredentialsFile}, c.AssumeRole, nil
		}
	}
	return nil, AssumeRole{}, noCredentials(searched)
}

func noCredentials(searched []string) error {
	files := "a profile"
	if len(searched) > 0 {
		files = strings.Join(searched, " and ")
	}
	return fmt.Errorf("no Tencent Cloud credentials in the provider block, the environment or %s. Set TENCENTCLOUD_SECRET_ID and "+
		"TENCENTCLOUD_SECRET_KEY (see https://console.cloud.tencent.com/cam/capi), run \"tccli configure\", or set cam_role_name to the CVM's "+
		"role", files)
}

func (c Config) regionOr(profile string) string {
	return cmp.Or(c.Region, profile, DefaultRegion)
}
