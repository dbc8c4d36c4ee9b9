package connect

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// CloudFlags select the Tencent Cloud account and endpoints. Environment variables are the
// defaults. Secrets have no flags, since other users can read a command line.
type CloudFlags struct {
	session    *process.Session
	Region     string // if empty, from the environment
	endpoint   string
	profile    string
	profileDir string
	camRole    string
	podOIDC    bool
	domain     string
	currency   string
	allowed    []string
	forbidden  []string
}

// Register gives a command the flags.
func (o *CloudFlags) Register(cmd *cobra.Command, s *process.Session) {
	o.session = s
	f := pflag.NewFlagSet("cloud", pflag.ContinueOnError)
	f.StringVar(&o.endpoint, "endpoint", "", "`URL` to use instead of the CVM, tag and STS endpoints (GPUPOOL_ENDPOINT).")
	f.StringVar(&o.profile, "profile", "", "`NAME` of the credentials profile (TENCENTCLOUD_PROFILE).")
	f.StringVar(&o.profileDir, "shared-credentials-dir", "", "`DIR` of the profiles (TENCENTCLOUD_SHARED_CREDENTIALS_DIR, or ~/.tccli).")
	f.StringVar(&o.camRole, "cam-role-name", "", "CAM `ROLE` of this instance to use (TENCENTCLOUD_CAM_ROLE_NAME).")
	f.BoolVar(&o.podOIDC, "enable-pod-oidc", false, "Use the identity that TKE gives to pods (TKE_*).")
	f.StringVar(&o.domain, "domain", "", "Root `DOMAIN` of the API (TENCENTCLOUD_DOMAIN, or tencentcloudapi.com).")
	f.Var(process.Choice(&o.currency, spotpool.CurrencyNames()...), "currency",
		"Currency of the account's prices ("+spotpool.CurrencyVariable+", or that of the endpoint or domain).")
	f.StringSliceVar(&o.allowed, "allowed-account-id", nil, "`ID` of an allowed account; can be repeated. If omitted, any account is allowed.")
	f.StringSliceVar(&o.forbidden, "forbidden-account-id", nil, "`ID` of a forbidden account; can be repeated.")
	process.AddFlags(cmd, "Tencent Cloud flags", f)
	_ = cmd.MarkFlagDirname("shared-credentials-dir")
}

// RegisterRegion gives a command the flag for one region.
func (o *CloudFlags) RegisterRegion(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&o.Region, "region", "", usage)
}

// Cloud is the client for a store. If the store has pools, it is prepared now, to report
// missing credentials at once. Otherwise no account may be needed, and it is lazy.
func (o *CloudFlags) Cloud(ctx context.Context, place store.Store) (spotpools.Cloud, error) {
	pools, err := place.List(ctx, store.SpotPools)
	if err == nil && len(pools) > 0 {
		return o.Client(ctx)
	}
	return o.Lazy(), nil
}

// Lazy is a client that is prepared at its first use.
func (o *CloudFlags) Lazy() spotpools.Cloud {
	return spotpools.LazyCloud(func(ctx context.Context) (spotpools.Cloud, error) { return o.Client(ctx) })
}

// Client prepares a client. It reads credentials, without API calls.
func (o *CloudFlags) Client(ctx context.Context) (*tencent.Client, error) {
	config := tencent.Config{
		Region: o.Region, Endpoint: o.endpoint, Profile: o.profile, SharedCredentialsDir: o.profileDir,
		CamRoleName: o.camRole, EnablePodOIDC: o.podOIDC, Domain: o.domain, Currency: o.currency,
		AllowedAccountIDs: o.allowed, ForbiddenAccountIDs: o.forbidden, Logger: o.session.Logger(),
	}
	config = config.WithEnvironment(o.session.Getenv)
	if host := config.AllowedPlainHost(); host != "" {
		o.session.Warn(reason.PlainHTTP(reason.Word(host)).String())
	}
	return tencent.New(ctx, config)
}
