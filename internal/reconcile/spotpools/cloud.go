package spotpools

import (
	"context"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Cloud is one account of the cloud. Errors of its calls are
// *spotpool.CloudError, or wrap the context's error. The times it returns are
// the cloud's own clock.
type Cloud interface {
	CloudReader
	CloudChanges
}

// CloudReader changes nothing.
type CloudReader interface {
	// AccountID names the account that the credentials belong to.
	AccountID(ctx context.Context) (string, error)
	// ObserveRegion lists every instance that carries a pool's uid.
	ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error)
	// ObservePool lists the instances that carry the uid, and those of ids that exist
	// without it, or do not show it yet.
	ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error)
	// ObserveNamed lists the instances tagged with a pool's name, of any uid.
	ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error)
	// ObserveInstances looks instances up by id; those missing from the answer are
	// gone.
	ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error)
	// Markets returns prices and stock, and the account's remaining spot vCPUs by
	// zone. Where the quota can't be had, the answer says so, and that is no error.
	Markets(ctx context.Context, region string) (spotpool.Markets, error)
	// Calls counts the calls made so far, by action.
	Calls() map[string]int
}

// CloudChanges are all changes of the cloud.
type CloudChanges interface {
	// Launch asks for the instances of a request, and returns the time of the answer.
	// The same request asked for again gives the same instances.
	Launch(ctx context.Context, r spotpool.Request) (ids []string, at time.Time, err error)
	// Terminate ends instances, and returns the ids of those that end, have ended, or
	// were gone already.
	Terminate(ctx context.Context, region string, instances []spotpool.Instance) ([]string, error)
	// Tag sets tags on instances, and Untag removes them.
	Tag(ctx context.Context, region string, ids []string, tags map[string]string) error
	Untag(ctx context.Context, region string, ids []string, keys []string) error
}

// AccountError says that the credentials belong to another account than the pool's.
type AccountError struct{ Object, Pool, Credentials string }

// Error says whose the pool is, and what to do.
func (e *AccountError) Error() string {
	return fmt.Sprintf("%s belongs to account %s, and these credentials to account %s: nothing was touched. Use the credentials of account %s", e.Object,
		e.Pool, e.Credentials, e.Pool)
}

// ownAccount refuses a pool that is not of the credentials' account.
func (o *cloudObserver) ownAccount(ctx context.Context, d spotpool.Declaration) error {
	account, err := o.Cloud.AccountID(ctx)
	if err != nil {
		return err
	}
	return sameAccount(d, account)
}

// sameAccount refuses a pool of another account than the one that was observed.
func sameAccount(d spotpool.Declaration, account string) error {
	if account != d.AccountID {
		return &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: account}
	}
	return nil
}
