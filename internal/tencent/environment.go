package tencent

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// variables is one configuration field and the environment variables that may
// fill it in; the first that is set counts.
type variables struct {
	field *string
	names []string
}

// WithEnvironment adds omitted values from environment variables, which getenv reads. Arguments
// take precedence. The names are those of the official Terraform provider
// (tencentcloud/provider.go), and GPUPOOL_ENDPOINT, GPUPOOL_METADATA_ENDPOINT and
// GPUPOOL_CURRENCY.
//
// A secret comes from one source: if the configuration has secret_id, neither key nor token is
// taken from the environment. The role variables only complete a role that the configuration
// does not name. If the environment has a web identity token, they belong to that identity.
func (c Config) WithEnvironment(getenv func(string) string) Config {
	fields := []variables{
		{&c.Region, []string{"TENCENTCLOUD_REGION"}},
		{&c.Protocol, []string{"TENCENTCLOUD_PROTOCOL"}},
		{&c.Domain, []string{"TENCENTCLOUD_DOMAIN"}},
		{&c.Endpoint, []string{"GPUPOOL_ENDPOINT"}},
		{&c.Currency, []string{spotpool.CurrencyVariable}},
		{&c.MetadataEndpoint, []string{"GPUPOOL_METADATA_ENDPOINT"}},
		{&c.SharedCredentialsDir, []string{"TENCENTCLOUD_SHARED_CREDENTIALS_DIR"}},
		{&c.Profile, []string{"TENCENTCLOUD_PROFILE"}},
		{&c.CredentialsFile, []string{"TENCENTCLOUD_CREDENTIALS_FILE"}},
		{&c.CamRoleName, []string{"TENCENTCLOUD_CAM_ROLE_NAME"}},
		{&c.RequestClient, []string{"TENCENTCLOUD_API_REQUEST_CLIENT"}},
		{&c.PodOIDC.Region, []string{"TKE_REGION"}},
		{&c.PodOIDC.ProviderID, []string{"TKE_PROVIDER_ID"}},
		{&c.PodOIDC.WebIdentityTokenFile, []string{"TKE_WEB_IDENTITY_TOKEN_FILE"}},
		{&c.PodOIDC.RoleARN, []string{"TKE_ROLE_ARN"}},
	}
	if c.SecretID == "" {
		fields = append(fields,
			variables{&c.SecretID, []string{"TENCENTCLOUD_SECRET_ID"}},
			variables{&c.SecretKey, []string{"TENCENTCLOUD_SECRET_KEY"}},
			variables{&c.SecurityToken, []string{"TENCENTCLOUD_SECURITY_TOKEN", "TENCENTCLOUD_SESSION_TOKEN", "TENCENTCLOUD_TOKEN"}})
	}
	var duration string
	fields = append(fields, c.roleVariables(getenv, &duration)...)
	for _, f := range fields {
		for _, name := range f.names {
			if *f.field == "" {
				*f.field = getenv(name)
			}
		}
	}
	c = c.withSessionDuration(duration)
	return c.withHome(getenv)
}

// roleVariables are those of the role that the environment names, if any.
func (c *Config) roleVariables(getenv func(string) string, duration *string) []variables {
	const prefix = "TENCENTCLOUD_ASSUME_ROLE_"
	web := &c.AssumeRoleWithWebIdentity
	named := c.AssumeRole.RoleARN != "" || web.configured()
	if !named && (getenv(prefix+"WEB_IDENTITY_TOKEN") != "" || getenv(prefix+"WEB_IDENTITY_TOKEN_FILE") != "") || web.configured() {
		fields := []variables{
			{&web.ProviderID, []string{prefix + "PROVIDER_ID"}},
			{&web.RoleARN, []string{prefix + "ARN"}},
			{&web.SessionName, []string{prefix + "SESSION_NAME"}},
			{duration, []string{prefix + "SESSION_DURATION"}},
		}
		if web.configured() {
			return fields
		}
		return append(fields,
			variables{&web.WebIdentityToken, []string{prefix + "WEB_IDENTITY_TOKEN"}},
			variables{&web.WebIdentityTokenFile, []string{prefix + "WEB_IDENTITY_TOKEN_FILE"}})
	}
	role := &c.AssumeRole
	return []variables{
		{&role.RoleARN, []string{prefix + "ARN"}},
		{&role.SessionName, []string{prefix + "SESSION_NAME"}},
		{&role.ExternalID, []string{prefix + "EXTERNAL_ID"}},
		{&role.SourceIdentity, []string{prefix + "SOURCE_IDENTITY"}},
		{&role.SerialNumber, []string{prefix + "SERIAL_NUMBER"}},
		{&role.TokenCode, []string{prefix + "TOKEN_CODE"}},
		{duration, []string{prefix + "SESSION_DURATION"}},
	}
}

func (c Config) withSessionDuration(text string) Config {
	if text == "" {
		return c
	}
	field := &c.AssumeRole.SessionDuration
	if c.AssumeRoleWithWebIdentity.configured() {
		field = &c.AssumeRoleWithWebIdentity.SessionDuration
	}
	if *field != 0 {
		return c
	}
	seconds, err := strconv.Atoi(text)
	if err != nil {
		c.problems = append(c.problems, fmt.Errorf("TENCENTCLOUD_ASSUME_ROLE_SESSION_DURATION must be a number of seconds, not %q", text))
		return c
	}
	*field = seconds
	return c
}

// withHome fills in the files of the home directory, and expands a leading "~" in
// those that were named.
func (c Config) withHome(getenv func(string) string) Config {
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	if home == "" {
		return c
	}
	orDefault(&c.SharedCredentialsDir, filepath.Join(home, ".tccli"))
	orDefault(&c.CredentialsFile, filepath.Join(home, ".tencentcloud", "credentials"))
	for _, path := range []*string{&c.SharedCredentialsDir, &c.CredentialsFile, &c.AssumeRoleWithWebIdentity.WebIdentityTokenFile} {
		if rest, ok := strings.CutPrefix(*path, "~"); ok && (rest == "" || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, `\`)) {
			*path = filepath.Join(home, rest)
		}
	}
	return c
}
