package spotpools

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Cloud is one account of Tencent Cloud. Errors of its calls are *spotpool.CloudError, or wrap
// the context's error. It returns times of Tencent Cloud's clock.
type Cloud interface {
	CloudReader
	CloudChanges
}

// CloudReader changes nothing.
type CloudReader interface {
	// Account returns the account of the credentials, with the currency of its prices.
	Account(ctx context.Context) (spotpool.Account, error)
	// ObserveRegion lists every instance with a pool's UID.
	ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error)
	// ObservePool lists the instances with the UID, and those of the IDs that exist without
	// it, or do not show it yet.
	ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error)
	// ObserveNamed lists the instances tagged with a pool's name, of any uid.
	ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error)
	// ObserveInstances reads instances by ID; those that are missing from the response are
	// gone.
	ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error)
	// Markets returns prices and stock, and the account's remaining spot vCPUs by zone. An
	// unknown quota is not an error: the result says why.
	Markets(ctx context.Context, region string) (spotpool.Markets, error)
	// Calls counts the calls made so far, by action.
	Calls() map[string]int
}

// CloudChanges are all changes in Tencent Cloud.
type CloudChanges interface {
	// Launch launches the instances of a request, and returns the time of the response. The
	// same request returns the same instances.
	Launch(ctx context.Context, r spotpool.Request) (ids []string, at time.Time, err error)
	// Terminate terminates instances, and returns the IDs of those that terminate, or were
	// gone already.
	Terminate(ctx context.Context, region string, instances []spotpool.Instance) ([]string, error)
	// Tag sets tags on instances, and Untag removes them.
	Tag(ctx context.Context, region string, ids []string, tags map[string]string) error
	Untag(ctx context.Context, region string, ids []string, keys []string) error
}

// AccountError says that the credentials are of another account than the pool.
type AccountError struct{ Object, Pool, Credentials string }

// Because says whose the pool is.
func (e *AccountError) Because() reason.Reason {
	return reason.OtherAccount(reason.Object(e.Object), reason.Word(e.Pool), reason.Word(e.Credentials))
}

// Error is Because as text.
func (e *AccountError) Error() string { return e.Because().String() }

// ownAccount refuses a pool of another account than the credentials.
func (o *cloudObserver) ownAccount(ctx context.Context, d spotpool.Declaration) error {
	account, err := o.Cloud.Account(ctx)
	if err != nil {
		return err
	}
	return sameAccount(d, account.ID)
}

// sameAccount refuses a pool of another account than the one that was observed.
func sameAccount(d spotpool.Declaration, account string) error {
	if account != d.AccountID {
		return &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: account}
	}
	return nil
}

// sameConnection refuses a pool of another account than the one that was observed, or with prices
// in another currency.
func sameConnection(d spotpool.Declaration, account spotpool.Account) error {
	if err := sameAccount(d, account.ID); err != nil {
		return err
	}
	return d.CheckCurrency(account.Currency)
}
