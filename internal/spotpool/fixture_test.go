package spotpool_test

import "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"

const (
	region = "ap-singapore"
	zone2  = "ap-singapore-2"
	zone3  = "ap-singapore-3"
	t4     = "GN7.2XLARGE32"
	a10    = "PNV4.7XLARGE116"
)

// pool declares 2 to 4 T4 instances, in zone 2 before zone 3.
func pool(changes ...func(*spotpool.Declaration)) spotpool.Declaration {
	d := spotpool.Declaration{
		Name: "train", Region: region, UID: "0123456789abcdef0123456789abcdef", AccountID: "100012345678", Generation: 1, Currency: "CNY",
		Minimum: 2, Maximum: 4,
		Offerings: []spotpool.Offering{offering(zone2, t4), offering(zone3, t4)},
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4"}, KeyIDs: []string{"skey-a1b2c3d4"},
		},
	}.WithDefaults()
	for _, change := range changes {
		change(&d)
	}
	return d
}

func offering(zone, instanceType string) spotpool.Offering {
	return spotpool.Offering{AvailabilityZone: zone, InstanceType: instanceType, SubnetID: "subnet-0000000" + zone[len(zone)-1:]}
}

// size sets minimum and maximum.
func size(minimum, maximum int) func(*spotpool.Declaration) {
	return func(d *spotpool.Declaration) { d.Minimum, d.Maximum = minimum, maximum }
}

func yuan(s string) spotpool.Price {
	p, err := spotpool.ParsePrice(s)
	if err != nil {
		panic(err)
	}
	return p
}

// falling lets up to n on-demand instances take the place of spot ones.
func falling(n int) func(*spotpool.Declaration) {
	return func(d *spotpool.Declaration) {
		d.OnDemandFallback = &spotpool.OnDemandFallback{After: spotpool.DefaultFallbackAfter, Maximum: n}
	}
}

func refreshing(s spotpool.RefreshStrategy, surge, unavailable int) func(*spotpool.Declaration) {
	return func(d *spotpool.Declaration) {
		d.Refresh = spotpool.Refresh{Strategy: s, MaxSurge: surge, MaxUnavailable: unavailable}
	}
}

// drainedByBudget has the pool drained while its budget is exceeded.
func drainedByBudget(d *spotpool.Declaration) {
	d.Budget, d.OnBudgetExceeded = "team-a", spotpool.ExceededDrain
	d.Nodes = &spotpool.Nodes{}
	*d = d.WithDefaults()
}
