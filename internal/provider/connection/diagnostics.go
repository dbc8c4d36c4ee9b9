package connection

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// unusable is why the account, the cluster or the store could not be opened.
type unusable struct{ error }

func (e unusable) Unwrap() error { return e.error }

// IsUnusable reports whether the provider's configuration is why the account, the cluster or
// the store cannot be opened. The apply will have the same error.
func IsUnusable(err error) bool {
	var u unusable
	return errors.As(err, &u)
}

// Error turns an error of the account, the cluster or the store into a diagnostic. The headline is what was being done;
// well-known kinds of errors have a headline of their own.
func Error(doing reason.Reason, err error) diag.Diagnostic {
	return problem.Error(path.Empty(), explained(doing, err))
}

// Warning is Error for what does not stop the run.
func Warning(doing reason.Reason, err error) diag.Diagnostic {
	return problem.Warning(path.Empty(), explained(doing, err))
}

// explained returns the headline of an error, and the error.
func explained(doing reason.Reason, err error) reason.Reason {
	text, ended := said(err)
	of, known := kindOf(err)
	switch canceled := errors.Is(err, context.Canceled); {
	case known:
		return of(text)
	case canceled && text == "":
		return reason.OperationCanceled(doing)
	case canceled:
		return reason.OperationInterrupted(doing, text)
	case ended && text == "":
		return reason.OperationOverdue(doing)
	case ended:
		return reason.OperationTimedOut(doing, text)
	}
	return callOf(err)(doing, text)
}

// said returns the text of an error without that of its context, and whether the context's came last.
func said(err error) (text reason.Foreign, ended bool) {
	whole := strings.TrimSpace(err.Error())
	for _, of := range []error{context.Canceled, context.DeadlineExceeded} {
		if rest, found := strings.CutSuffix(whole, of.Error()); found && errors.Is(err, of) {
			return reason.Foreign(strings.TrimRight(rest, ": ")), true
		}
	}
	return reason.Foreign(whole), false
}

// titled is a headline of one of the kinds of objects.
func titled(headline func(reason.Word, reason.Foreign) reason.Reason, title string) func(reason.Foreign) reason.Reason {
	return func(text reason.Foreign) reason.Reason { return headline(reason.Word(title), text) }
}

// kindOf returns the headline of an error that is of a well-known kind, whatever was being done.
func kindOf(err error) (headline func(reason.Foreign) reason.Reason, found bool) {
	var (
		exists  *record.ExistsError
		account *spotpools.AccountError
		money   *spotpool.CurrencyError
		cluster *record.ClusterError
		budget  *spotpools.BudgetClusterError
		missing *record.AbsentError
		lost    *record.LostError
		moved   *store.MovedError
		locked  *store.LockedError
		unknown *UnknownArgumentsError
	)
	switch cloud, _ := spotpool.AsCloudError(err); {
	case errors.As(err, &exists):
		return titled(reason.ObjectTaken, exists.Title), true
	case errors.As(err, &account), cloud != nil && cloud.Code == tencent.AccountNotAllowed:
		return reason.WrongAccount, true
	case errors.As(err, &money):
		return reason.WrongCurrency, true
	case errors.As(err, &cluster), errors.As(err, &budget):
		return reason.WrongCluster, true
	case errors.As(err, &missing):
		return titled(reason.ObjectAbsent, missing.Title), true
	case errors.As(err, &lost):
		return titled(reason.ObjectElsewhere, lost.Title), true
	case errors.As(err, &locked):
		kind, _, _ := strings.Cut(locked.Name, "/")
		return titled(reason.ObjectLocked, strings.ReplaceAll(kind, "_", " ")), true
	case errors.As(err, &unknown):
		return reason.ProviderNotConfigured, true
	case errors.As(err, &moved):
		return reason.StoreMoved, true
	case errors.Is(err, store.ErrNoStore), errors.Is(err, store.ErrUndescribed), errors.Is(err, store.ErrNewerStore), errors.Is(err, store.ErrDamagedStore):
		return reason.StoreUnusable, true
	}
	return nil, false
}

// callOf returns the headline of a call that failed.
func callOf(err error) func(reason.Reason, reason.Foreign) reason.Reason {
	cloud, ok := spotpool.AsCloudError(err)
	var (
		u     unusable
		calls *kubeclient.Error
	)
	switch {
	case errors.As(err, &calls) && (calls.Class == kubeclient.ClassAuthentication || calls.Class == kubeclient.ClassAuthorization):
		return reason.ClusterCredentials
	case errors.As(err, &calls) && (calls.Class == kubeclient.ClassUnreachable || calls.Class == kubeclient.ClassCertificate):
		return reason.ClusterAway
	case errors.As(err, &calls):
		return reason.ClusterError
	case ok && strings.Contains(cloud.Code, "UnauthorizedOperation"):
		return reason.CloudUnauthorized
	case ok && cloud.Class == errorclass.Authorization:
		return reason.CloudCredentials
	case errors.As(err, &u):
		return func(_ reason.Reason, text reason.Foreign) reason.Reason { return reason.ProviderUnusable(text) }
	case ok:
		return reason.CloudError
	}
	return reason.OperationFailed
}
