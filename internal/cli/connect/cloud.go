package connect

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// CloudFlags say which account is used, and how it is reached. The environment fills
// in the rest. Secrets have no flags, since everyone can read a command line.
type CloudFlags struct {
	session    *process.Session
	Region     string // empty: the environment's
	endpoint   string
	profile    string
	profileDir string
	camRole    string
	podOIDC    bool
	domain     string
	allowed    []string
	forbidden  []string
}

// Register gives a command the flags.
func (o *CloudFlags) Register(cmd *cobra.Command, s *process.Session) {
	o.session = s
	f := cmd.Flags()
	f.StringVar(&o.endpoint, "endpoint", "", "`URL` that stands for CVM, tag and STS alike; no other host is then called (GPUPOOL_ENDPOINT)")
	f.StringVar(&o.profile, "profile", "", "`NAME` of the profile with the credentials (TENCENTCLOUD_PROFILE)")
	f.StringVar(&o.profileDir, "shared-credentials-dir", "", "`DIR` of the profiles (TENCENTCLOUD_SHARED_CREDENTIALS_DIR, else ~/.tccli)")
	f.StringVar(&o.camRole, "cam-role-name", "", "`ROLE` of the instance this runs on, to take credentials from (TENCENTCLOUD_CAM_ROLE_NAME)")
	f.BoolVar(&o.podOIDC, "enable-pod-oidc", false, "take credentials from the identity that TKE gives to pods (TKE_*)")
	f.StringVar(&o.domain, "domain", "", "root `DOMAIN` of the API (TENCENTCLOUD_DOMAIN, else tencentcloudapi.com)")
	f.StringSliceVar(&o.allowed, "allowed-account-id", nil, "`ID` of an account that may be used; repeat it for several (default: any)")
	f.StringSliceVar(&o.forbidden, "forbidden-account-id", nil, "`ID` of an account that must not be used; repeat it for several")
	_ = cmd.MarkFlagDirname("shared-credentials-dir")
}

// RegisterRegion gives a command about one region the flag that names it.
func (o *CloudFlags) RegisterRegion(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&o.Region, "region", "", usage)
}

// Cloud is the client for what a store declares. Where the store has pools, it is
// prepared now, so that missing credentials are reported at once; else it is prepared
// when it is first used, as a store of budgets alone needs no account.
func (o *CloudFlags) Cloud(ctx context.Context, place store.Store) (spotpools.Cloud, error) {
	pools, err := place.List(ctx, store.SpotPools)
	if err == nil && len(pools) > 0 {
		return o.Client(ctx)
	}
	return o.Lazy(), nil
}

// Lazy is a client that is prepared when it is first needed.
func (o *CloudFlags) Lazy() spotpools.Cloud {
	return spotpools.LazyCloud(func(ctx context.Context) (spotpools.Cloud, error) { return o.Client(ctx) })
}

// Client prepares a client. It looks credentials up, and makes no call yet.
func (o *CloudFlags) Client(ctx context.Context) (*tencent.Client, error) {
	config := tencent.Config{
		Region: o.Region, Endpoint: o.endpoint, Profile: o.profile, SharedCredentialsDir: o.profileDir,
		CamRoleName: o.camRole, EnablePodOIDC: o.podOIDC, Domain: o.domain,
		AllowedAccountIDs: o.allowed, ForbiddenAccountIDs: o.forbidden, Logger: o.session.Logger(),
	}
	config = config.WithEnvironment(o.session.Getenv)
	o.session.Warn(config.Warnings()...)
	return tencent.New(ctx, config)
}
