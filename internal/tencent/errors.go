package tencent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tcerrors "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// The codes of failures without a response of the API, in addition to those of the SDK.
const (
	codeUnreachable = "ClientError.Unreachable"
	codeNetwork     = "ClientError.NetworkError"
	codeStatus      = "ClientError.HttpStatusCodeError"
	codeTimeout     = "ClientError.Timeout"
	codeCanceled    = "ClientError.Canceled"
	codeHost        = "ClientError.HostRefused"
	codeCredentials = "ClientError.Credentials"
)

// failure is one failed attempt: what to report, and whether to try again.
type failure struct {
	*spotpool.CloudError
	retry      bool
	staleToken bool        // the temporary credentials were refused
	used       credentials // the credentials that the attempt used
}

// classify converts a failed attempt to a classified error. scrub removes secrets from texts.
func classify(action, address string, e *exchange, err error, scrub func(string) string) failure {
	cloud := &spotpool.CloudError{Action: action, RequestID: e.requestID}
	f := failure{CloudError: cloud}
	var refused *refusedHostError
	var status *statusError
	var api *tcerrors.TencentCloudSDKError
	switch {
	case errors.As(e.err, &refused):
		cloud.Code, cloud.Message = codeHost, refused.Error()
		cloud.Class, cloud.Scope, cloud.NothingLaunched = errorclass.Configuration, spotpool.ScopePool, true
		return f
	case e.err != nil && neverSent(e):
		cloud.Code = codeUnreachable
		cloud.Message = fmt.Sprintf("no connection to %s: %s.", address, whyUnreachable(e.err))
		cloud.Remedy = reason.CheckEndpoint()
		cloud.Class, cloud.Scope, cloud.NothingLaunched = errorclass.Transient, spotpool.ScopePool, true
		f.retry, cloud.Unreachable = true, true
		return f
	case errors.As(e.err, &status):
		cloud.Code, cloud.Message = codeStatus, fmt.Sprintf("%s answered %s", address, status)
	case errors.Is(e.err, context.DeadlineExceeded) || isTimeout(e.err):
		cloud.Code, cloud.Message = codeTimeout, fmt.Sprintf("%s gave no answer in time", address)
	case e.err != nil:
		cloud.Code, cloud.Message = codeNetwork, fmt.Sprintf("%s: %v", address, e.err)
	case errors.As(err, &api):
		cloud.Code, cloud.Message = api.GetCode(), api.GetMessage()
		if api.GetRequestId() != "" {
			cloud.RequestID = api.GetRequestId()
		}
		if strings.HasPrefix(cloud.Code, "ClientError.ParseJson") {
			// The error's own message would quote the whole answer.
			cloud.Message = fmt.Sprintf("%s returned a response that is not JSON of the API", address)
		}
	default:
		cloud.Code, cloud.Message = codeNetwork, err.Error()
	}
	r := ruleOf(cloud.Code)
	cloud.Class, cloud.Scope, cloud.Remedy = r.class, r.scope, r.remedy
	cloud.NothingLaunched = !r.unknown
	cloud.Message = scrub(shorten(cloud.Message))
	f.retry = r.retry
	return f
}

// lackingPermission names the CAM permission that a call needs, and its identity if that is known.
func lackingPermission(service, action string, keys *keyring) reason.Reason {
	if keys != nil {
		if arn := keys.identity.Load(); arn != nil && *arn != "" {
			return reason.GrantPermission(reason.NewForeign(*arn), reason.Word(service), reason.Word(action))
		}
	}
	return reason.GrantOwn(reason.Word(service), reason.Word(action))
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// shorten keeps a message to what a person reads, on one line.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 500 {
		return string(runes[:500]) + "…"
	}
	return s
}

// canceled is the error of a call that its context ended. Both the context's error
// and a CloudError are in its chain.
func canceled(action string, nothing bool, cause error) error {
	code := codeCanceled
	if errors.Is(cause, context.DeadlineExceeded) {
		code = codeTimeout
	}
	outcome := "whether it took effect is unknown"
	if nothing {
		outcome = "it was not sent"
	}
	return &interrupted{
		CloudError: &spotpool.CloudError{
			Class: errorclass.Transient, Scope: spotpool.ScopePool, NothingLaunched: nothing,
			Action: action, Code: code, Message: "interrupted: " + outcome,
		},
		cause: cause,
	}
}

type interrupted struct {
	*spotpool.CloudError
	cause error
}

func (e *interrupted) Unwrap() []error { return []error{e.CloudError, e.cause} }

// without replaces a text in an error message, which Tencent Cloud may have quoted.
func without(err error, text, instead string) error {
	if cloud, ok := spotpool.AsCloudError(err); ok && text != "" {
		cloud.Message = strings.ReplaceAll(cloud.Message, text, instead)
	}
	return err
}

func isCode(err error, code string) bool {
	cloud, ok := spotpool.AsCloudError(err)
	return ok && cloud.Code == code
}
