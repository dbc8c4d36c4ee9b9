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
	// AccountID names the account that the credentials belong to.
	AccountID(ctx context.Context) (string, error)
	// ObserveRegion lists every instance that carries a pool's uid.
	ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error)
	// ObservePool lists the instances that carry the uid, and those of ids that
	// are there though they don't carry it (or not yet), as they are.
	ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error)
	// ObserveNamed lists the instances tagged with a pool's name, of any uid.
	ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error)
	// ObserveInstances looks instances up by id; absent ones are gone.
	ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error)
	// Markets returns prices and stock, and the account's remaining spot vCPUs
	// by zone. A quota that can't be had is said in the answer, and no error.
	Markets(ctx context.Context, region string) (spotpool.Markets, error)
	// Launch asks for the instances of a request, and says when the answer was
	// given; the same request asked for again gives the same instances.
	Launch(ctx context.Context, r spotpool.Request) (ids []string, at time.Time, err error)
	// Terminate ends instances, and returns the ids of those that are ended or
	// were gone already.
	Terminate(ctx context.Context, region string, instances []spotpool.Instance) ([]string, error)
	// Tag sets tags on instances, and Untag removes them.
	Tag(ctx context.Context, region string, ids []string, tags map[string]string) error
	Untag(ctx context.Context, region string, ids []string, keys []string) error
	// Calls counts the calls made so far, by action.
	Calls() map[string]int
}

// AccountError says that the credentials belong to another account than the
// pool does.
type AccountError struct{ Object, Pool, Credentials string }

// Error says whose the pool is, and what to do.
func (e *AccountError) Error() string {
	return fmt.Sprintf("%s belongs to account %s, and these credentials to account %s: nothing was touched. Use the credentials of account %s", e.Object, e.Pool, e.Credentials, e.Pool)
}

// ownAccount refuses a pool of another account than the credentials belong to.
func (f *Flow) ownAccount(ctx context.Context, d spotpool.Declaration) error {
	account, err := f.Cloud.AccountID(ctx)
	if err != nil {
		return err
	}
	return sameAccount(d, account)
}

// sameAccount refuses a pool of another account than the one that was looked at.
func sameAccount(d spotpool.Declaration, account string) error {
	if account != d.AccountID {
		return &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: account}
	}
	return nil
}
