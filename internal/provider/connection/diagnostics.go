package connection

import (
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
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

// Error turns an error of the account, the cluster or the store into a diagnostic.
// The headline is what was being done; well-known kinds of errors have a headline of
// their own.
func Error(doing string, err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic(headline(doing, err), sentence(err))
}

// Warning is Error for what doesn't stop the run.
func Warning(doing string, err error) diag.Diagnostic {
	return diag.NewWarningDiagnostic(headline(doing, err), sentence(err))
}

// Capital is a title as a headline begins with it.
func Capital(title string) string { return strings.ToUpper(title[:1]) + title[1:] }

func headline(doing string, err error) string {
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
	switch {
	case errors.As(err, &exists):
		return Capital(exists.Title) + " exists already"
	case errors.As(err, &account):
		return "Wrong account"
	case errors.As(err, &money):
		return "Wrong currency"
	case errors.As(err, &cluster), errors.As(err, &budget):
		return "Wrong cluster"
	case errors.As(err, &missing):
		return Capital(missing.Title) + " not found"
	case errors.As(err, &lost):
		return Capital(lost.Title) + " is not in this store"
	case errors.As(err, &locked) && strings.HasPrefix(locked.Name, "budget/"):
		return "Budget is locked"
	case errors.As(err, &locked) && strings.HasPrefix(locked.Name, "stock_pool/"):
		return "Stock pool is locked"
	case errors.As(err, &locked) && strings.HasPrefix(locked.Name, "notification/"):
		return "Notification is locked"
	case errors.As(err, &locked):
		return "Spot pool is locked"
	case errors.As(err, &unknown):
		return "Provider not configured yet"
	case errors.As(err, &moved):
		return "Store was moved"
	case errors.Is(err, store.ErrNoStore), errors.Is(err, store.ErrUndescribed), errors.Is(err, store.ErrNewerStore), errors.Is(err, store.ErrDamagedStore):
		return "Store is unusable"
	}
	cloud, ok := spotpool.AsCloudError(err)
	var (
		u     unusable
		calls *kubeclient.Error
	)
	switch {
	case errors.As(err, &calls) && (calls.Class == kubeclient.ClassAuthentication || calls.Class == kubeclient.ClassAuthorization):
		return doing + ": the cluster refused the credentials"
	case errors.As(err, &calls) && (calls.Class == kubeclient.ClassUnreachable || calls.Class == kubeclient.ClassCertificate):
		return doing + ": the cluster cannot be reached"
	case errors.As(err, &calls):
		return doing + ": the cluster answered with an error"
	case ok && cloud.Code == tencent.AccountNotAllowed:
		return "Wrong account"
	case ok && strings.Contains(cloud.Code, "UnauthorizedOperation"):
		return doing + ": Tencent Cloud did not authorize the call"
	case ok && cloud.Class == errorclass.Authorization:
		return doing + ": Tencent Cloud refused the credentials"
	case errors.As(err, &u):
		return "Provider is unusable"
	case ok:
		return doing + ": Tencent Cloud returned an error"
	}
	return doing + " failed"
}

// sentence makes a sentence of an error, as in Terraform's own messages. It ends with a full
// stop, and begins with a capital letter unless it begins with the name of an argument.
func sentence(err error) string {
	text := strings.TrimSpace(err.Error())
	if word, _, _ := strings.Cut(text, " "); word != "" && !strings.ContainsAny(word, "_/:.") {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}
