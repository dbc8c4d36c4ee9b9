package tencent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tchttp "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/http"
	"golang.org/x/sync/semaphore"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// accountOnce caches the account of the credentials.
type accountOnce struct {
	mu *semaphore.Weighted // a lock that one can stop waiting for
	id string
}

type identityAnswer struct {
	*tchttp.BaseResponse
	Response struct {
		AccountID string `json:"AccountId"`
		Arn       string `json:"Arn"`
	}
}

// AccountNotAllowed is the code of an account that the configuration excludes.
const AccountNotAllowed = "ClientError.AccountNotAllowed"

// AccountID asks STS once for the account of the credentials. An account that
// allowed_account_ids or forbidden_account_ids excludes is an error of class authorization that
// names both.
func (c *Client) AccountID(ctx context.Context) (string, error) {
	if err := c.account.mu.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer c.account.mu.Release(1)
	if c.account.id != "" {
		return c.account.id, nil
	}
	request := tchttp.NewCommonRequest(serviceSTS, stsVersion, "GetCallerIdentity")
	identity := identityAnswer{BaseResponse: &tchttp.BaseResponse{}}
	if _, err := c.api.call(ctx, c.keys, c.region, request, &identity); err != nil {
		return "", err
	}
	id := identity.Response.AccountID
	if id == "" {
		return "", errors.New("GetCallerIdentity answered without an account")
	}
	if err := c.config.checkAccountID(id); err != nil {
		return "", err
	}
	c.account.id = id
	c.keys.identity.Store(&identity.Response.Arn)
	return id, nil
}

// Account returns the account of the credentials, with the currency of its prices.
func (c *Client) Account(ctx context.Context) (spotpool.Account, error) {
	id, err := c.AccountID(ctx)
	if err != nil {
		return spotpool.Account{}, err
	}
	return spotpool.Account{ID: id, Currency: c.config.PriceCurrency()}, nil
}

// checkAccount makes sure before a change that the account may be used. Its error reports that
// the change was not requested.
func (c *Client) checkAccount(ctx context.Context, action string) error {
	_, err := c.AccountID(ctx)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return canceled(action, true, ctx.Err())
	}
	return credentialFailure(action, err).CloudError
}

func (c Config) checkAccountID(id string) error {
	refuse := func(format string, args ...any) error {
		return &spotpool.CloudError{
			Class: errorclass.Authorization, Scope: spotpool.ScopePool, NothingLaunched: true,
			Action: "GetCallerIdentity", Code: AccountNotAllowed, Message: fmt.Sprintf(format, args...),
			Remedy: reason.ChangeAccount(),
		}
	}
	if len(c.AllowedAccountIDs) > 0 && !slices.Contains(c.AllowedAccountIDs, id) {
		return refuse("the credentials are of account %s, and allowed_account_ids has only %s.", id, strings.Join(c.AllowedAccountIDs, ", "))
	}
	if slices.Contains(c.ForbiddenAccountIDs, id) {
		return refuse("the credentials are of account %s, which forbidden_account_ids rules out.", id)
	}
	return nil
}
