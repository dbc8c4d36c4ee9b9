package acceptance

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// The flags, with the defaults of the local CVM.
var (
	onAccount    = flag.Bool("account", false, "use the account of the credentials in the environment, which costs money")
	maxCost      = flag.String("max-cost", "5", "the most that an hour of the instance may cost, in the currency of the account")
	zone         = flag.String("zone", "ap-singapore-2", "the availability zone")
	instanceType = flag.String("instance-type", "GN7.2XLARGE32", "the instance type")
	vpc          = flag.String("vpc", "vpc-a1b2c3d4", "the VPC")
	subnet       = flag.String("subnet", "subnet-a1b2c3d4", "a subnet of the zone")
	image        = flag.String("image", "img-a1b2c3d4", "the image")
	key          = flag.String("key", "skey-a1b2c3d4", "the SSH key of the instance")
)

// account is the real account or a local CVM.
type account struct {
	client  *tencent.Client
	region  string
	options []provider.Option
	sim     *cvmsimtest.Sim // nil for a real account
}

func newAccount(t *testing.T, inCloud bool) account {
	t.Helper()
	a, getenv := account{}, os.Getenv
	if !inCloud {
		a.sim = cvmsimtest.Start(t)
		environment := map[string]string{
			"GPUPOOL_ENDPOINT": a.sim.URL, "TENCENTCLOUD_REGION": "ap-singapore",
			"TENCENTCLOUD_SECRET_ID": cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY": cvmsim.DemoSecretKey,
		}
		getenv = func(name string) string { return environment[name] }
		a.options = append(a.options, provider.WithPollInterval(10*time.Millisecond))
	}
	a.region, a.options = getenv("TENCENTCLOUD_REGION"), append(a.options, provider.WithEnvironment(getenv))
	var err error
	if a.client, err = tencent.New(t.Context(), tencent.Config{}.WithEnvironment(getenv)); err != nil {
		t.Fatal(err)
	}
	id, err := a.client.AccountID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the account is %s", id)
	return a
}

// affordable fails unless an hour of one instance costs at most the given price.
func (a account) affordable(t *testing.T, most string) error {
	t.Helper()
	limit, err := spotpool.ParsePrice(most)
	if err != nil {
		return err
	}
	m, err := a.client.Markets(t.Context(), a.region)
	if err != nil {
		return err
	}
	market := spotpool.Market{AvailabilityZone: *zone, InstanceType: *instanceType, ChargeType: spotpool.Spot}
	offer := spotpool.OffersByMarket(m.Offers)[market]
	switch {
	case offer.Price == 0:
		return fmt.Errorf("the price of %s is unknown: nothing is launched. Choose another -zone or -instance-type", market)
	case offer.Price > limit:
		return fmt.Errorf("%s costs %s, more than -max-cost %s: nothing is launched", market, offer.Currency.Hourly(offer.Price), limit)
	}
	t.Logf("%s costs %s, and -max-cost is %s", market, offer.Currency.Hourly(offer.Price), limit)
	return nil
}

// leftovers lists the instances of all acceptance pools that are not terminating.
func leftovers(ctx context.Context, client *tencent.Client, region string) ([]spotpool.Instance, error) {
	list, _, err := client.ObserveRegion(ctx, region)
	return slices.DeleteFunc(list, func(i spotpool.Instance) bool {
		return !strings.HasPrefix(i.PoolName, prefix) || i.State.Ending() || i.State == spotpool.StateShutdown
	}), err
}

// sweep terminates what a run that was killed left behind, and nothing else.
func sweep(ctx context.Context, client *tencent.Client, region string) error {
	list, err := leftovers(ctx, client, region)
	if err != nil || len(list) == 0 {
		return err
	}
	ended, err := client.Terminate(ctx, region, list)
	log.Printf("terminated %v", ended)
	return err
}
