package tencent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"
	tchttp "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/http"
	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/profile"
	"golang.org/x/sync/semaphore"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const (
	serviceCVM = "cvm"
	serviceTag = "tag"
	serviceSTS = "sts"
)

// Client reaches one account. It is safe for concurrent use; all who use it share its
// rate limits.
type Client struct {
	config  Config
	api     *api
	keys    *keyring
	region  string
	account accountOnce
	images  images
}

// New prepares a client. It looks up credentials, each lookup within LookupTimeout, and makes
// no other call.
func New(ctx context.Context, c Config) (*Client, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	a := newAPI(c)
	who, err := logIn(c, a)
	if err != nil {
		return nil, err
	}
	if _, err := who.keys.get(ctx); err != nil {
		return nil, err
	}
	return &Client{
		config: c, api: a, keys: who.keys, region: c.regionOr(who.region),
		account: accountOnce{mu: semaphore.NewWeighted(1)},
	}, nil
}

// Region is the region to use where none is named: the configured one, else the
// profile's, else DefaultRegion.
func (c *Client) Region() string { return c.region }

// Calls counts the requests made so far, repeated ones included, by action.
func (c *Client) Calls() map[string]int { return c.api.transport.counted() }

// api sends requests: one at a time within its action's rate, again where that
// helps, and never beyond the context.
type api struct {
	config    Config
	transport *transport
	limits    *limits
	backoff   backoff
	profile   *profile.ClientProfile
}

func newAPI(c Config) *api {
	p := profile.NewClientProfile()
	p.Language = "en-US"
	p.DisableRegionBreaker = true
	p.HttpProfile.ReqTimeout = 0 // the context's deadline counts
	scheme, host, path := c.address(serviceCVM)
	p.HttpProfile.Scheme = scheme
	p.HttpProfile.RootDomain = c.Domain
	if c.Endpoint != "" {
		p.HttpProfile.Endpoint = host + path
	}
	return &api{
		config: c, transport: newTransport(c), limits: newLimits(c.RateLimits),
		backoff: backoff{c.BackoffBase, c.BackoffCap}, profile: p,
	}
}

// answer is the metadata of a response, including an error response.
type answer struct {
	at        time.Time // the clock of Tencent Cloud
	requestID string
}

// call repeats a request until its outcome is definite, its attempts or its time are used up,
// or the context is done. Each attempt sends the identical body. keys is nil for an unsigned
// call. The error is or wraps a *spotpool.CloudError, also with the context's error.
func (a *api) call(ctx context.Context, keys *keyring, region string, request tchttp.Request, response tchttp.Response) (answer, error) {
	action := request.GetAction()
	within, cancel := context.WithTimeout(ctx, a.config.CallTimeout)
	defer cancel()
	certain := true  // no attempt so far can have taken effect
	renewed := false // the credentials were renewed once
	for n := 1; ; n++ {
		got, failed := a.attempt(within, keys, region, n, request, response)
		if failed == nil {
			return got, nil
		}
		if failed.staleToken && !renewed && keys.discard(failed.used) {
			renewed, failed.retry = true, true
		}
		if !failed.NothingLaunched {
			certain = false
		} else if !certain {
			// This attempt was refused, but an earlier one may have had an effect.
			failed.NothingLaunched = false
		}
		if ctx.Err() != nil {
			return got, canceled(action, certain, ctx.Err())
		}
		over := n >= a.config.MaxAttempts || failed.Unreachable && n >= maxUnreachable
		if !failed.retry || over || sleep(within, a.backoff.delay(n)) != nil {
			if ctx.Err() != nil {
				return got, canceled(action, certain, ctx.Err())
			}
			return got, failed.CloudError
		}
	}
}

func (a *api) attempt(ctx context.Context, keys *keyring, region string, n int, request tchttp.Request, response tchttp.Response) (answer, *failure) {
	action, address := request.GetAction(), a.config.addressOf(request.GetService())
	var secret credentials
	if keys != nil {
		var err error
		if secret, err = keys.get(ctx); err != nil {
			return answer{}, credentialFailure(action, err)
		}
	}
	if err := a.limits.wait(ctx, action); err != nil {
		return answer{}, &failure{CloudError: &spotpool.CloudError{
			Class: errorclass.Transient, Scope: spotpool.ScopePool, NothingLaunched: true,
			Action: action, Code: codeTimeout, Message: err.Error(),
		}}
	}
	seen := &exchange{}
	limited, cancel := context.WithTimeout(ctx, a.config.AttemptTimeout)
	defer cancel()
	request.SetContext(seen.in(limited))
	client := common.NewCommonClient(secret, region, a.profile).
		WithHttpTransport(a.transport).WithRequestClient(requestClient(a.config.RequestClient))
	started := time.Now()
	err := client.Send(request, response)
	got := answer{at: seen.date, requestID: seen.requestID}
	if got.at.IsZero() {
		got.at = a.config.now().UTC()
	}
	var failed *failure
	code := ""
	if err != nil {
		f := classify(action, address, seen, err, secret.scrub)
		switch f.Remedy.Code {
		case reason.CheckRegion().Code:
			f.Remedy = remedyOfRegion(region)
		case permission.Code:
			f.Remedy = lackingPermission(request.GetService(), action, keys)
		}
		f.used, f.staleToken = secret, f.Code == "AuthFailure.TokenFailure" || f.Code == "UnauthorizedOperation.InvalidToken"
		failed, code = &f, f.Code
	}
	a.config.Logger.LogAttrs(ctx, slog.LevelDebug, "cloud call",
		slog.String("action", action), slog.String("region", region), slog.Int("attempt", n), slog.Int("status", seen.status),
		slog.String("request_id", got.requestID), slog.String("code", code), slog.Duration("took", time.Since(started)))
	return got, failed
}

// credentialFailure is a call that was not sent for want of credentials.
func credentialFailure(action string, err error) *failure {
	if cloud, ok := spotpool.AsCloudError(err); ok {
		copied := *cloud
		copied.NothingLaunched = true
		copied.Message = fmt.Sprintf("%s (while finding out who asks for %s)", copied.Message, action)
		return &failure{CloudError: &copied}
	}
	return &failure{CloudError: &spotpool.CloudError{
		Class: errorclass.Authorization, Scope: spotpool.ScopePool, NothingLaunched: true,
		Action: action, Code: codeCredentials, Message: shorten(err.Error()) + ".", Remedy: reason.CheckCredentials(),
	}}
}

// scrub takes the secret out of a text.
func (c credentials) scrub(s string) string {
	for _, secret := range []string{c.secretKey, c.token} {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "(secret)")
		}
	}
	return s
}

var notRequestClient = regexp.MustCompile(`[^0-9a-zA-Z\-_ ,;.]+`)

// requestClient makes a name fit for the SDK (common/client.go, WithRequestClient),
// which complains on stderr about any other.
func requestClient(name string) string {
	name = notRequestClient.ReplaceAllString(name, "-")
	return name[:min(len(name), 100)]
}

// get fetches a page of the metadata service.
func (a *api) get(ctx context.Context, address string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, err
	}
	// No redirects are followed, since the service makes none.
	response, err := a.transport.RoundTrip(request)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = context.DeadlineExceeded
		}
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
