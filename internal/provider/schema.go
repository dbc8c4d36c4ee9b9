package provider

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func providerSchema() schema.Schema {
	attributes := cloudAttributes()
	attributes["assume_role"] = schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Role to assume with the configured credentials.",
		Attributes:          assumeRoleAttributes(),
	}
	attributes["assume_role_with_web_identity"] = schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Role to assume with the token of an identity provider, such as a CI system.",
		Attributes:          webIdentityAttributes(),
	}
	attributes["kubernetes"] = schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Cluster of budgets, stock pools and nodes, and of a store in Kubernetes. The arguments and environment variables " +
			"are those of the official Kubernetes provider. If omitted, and no variable names a cluster, the service account of the pod is used. " +
			"As with the official provider, `KUBECONFIG` is not read. Spot pools without nodes need no cluster.",
		Attributes: kubernetesAttributes(),
	}
	attributes["store"] = schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Store of declarations, journals and locks. `gpupool reconcile` manages what is applied here from the same " +
			"store. If omitted, the environment variable `GPUPOOL_STORE`, such as `directory:/srv/gpupool`, or else the directory `.gpupool` in " +
			"the working directory. A missing store is created.",
		Attributes: map[string]schema.Attribute{
			"directory": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Path of a directory that everyone who manages these pools shares.",
			},
			"kubernetes_namespace": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Namespace of the cluster in `kubernetes`, instead of a directory.",
			},
		},
	}
	return schema.Schema{
		MarkdownDescription: "The gpupool provider keeps pools of Tencent Cloud GPU spot instances at size, and enforces GPU-hour budgets in " +
			"Kubernetes. Its arguments and environment variables are those of the official providers for Tencent Cloud and for Kubernetes. Each " +
			"API is called only if a pool or a budget needs it. Budgets need no Tencent Cloud credentials, and spot pools without nodes need no " +
			"cluster.",
		Attributes: attributes,
	}
}

func cloudAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"region": optionalString("Default region of pools, such as `ap-singapore`. Also `TENCENTCLOUD_REGION`, or the profile's region. Default: " +
			"`ap-guangzhou`."),
		"secret_id": optionalString("ID of the API secret. Also `TENCENTCLOUD_SECRET_ID`. If omitted, the credentials are those of the profile, " +
			"or else of the instance's or the pod's role."),
		"secret_key":     optionalSecret("Key of the API secret. Also `TENCENTCLOUD_SECRET_KEY`."),
		"security_token": optionalSecret("Token of temporary credentials. Also `TENCENTCLOUD_SECURITY_TOKEN`."),
		"profile":        optionalString("Profile in `shared_credentials_dir`. Also `TENCENTCLOUD_PROFILE`. Default: `default`."),
		"shared_credentials_dir": optionalString("Directory with the profiles of the command line tool tccli. Also `TENCENTCLOUD_SHARED_CREDENTIALS_DIR`. " +
			"Default: `~/.tccli`."),
		"cam_role_name": optionalString("CAM role of the instance that runs Terraform. Also `TENCENTCLOUD_CAM_ROLE_NAME`."),
		"enable_pod_oidc": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to assume the role that TKE assigns to the pod, by its `TKE_*` environment variables. Default: `false`.",
		},
		"allowed_account_ids": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Accounts that may be used. With credentials of another account, nothing is changed.",
		},
		"forbidden_account_ids": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Accounts that must not be used.",
		},
		"protocol": optionalString("`HTTPS` or `HTTP`. Plain HTTP exposes user data and temporary credentials on the network, and each plan " +
			"warns of it. Also `TENCENTCLOUD_PROTOCOL`. Default: `HTTPS`."),
		"domain": optionalString("Root domain of the API, such as `internal.tencentcloudapi.com`. Also `TENCENTCLOUD_DOMAIN`. Default: " +
			"`tencentcloudapi.com`."),
		"endpoint": optionalString("URL of the CVM, tag and STS services, such as `http://127.0.0.1:9170` of `gpupool simulate`. No other host " +
			"is called. A plain HTTP URL of another machine requires `protocol = \"HTTP\"`. Also `GPUPOOL_ENDPOINT`."),
		"currency": optionalString("Currency of the account's prices: `" + strings.Join(spotpool.CurrencyNames(), "` or `") + "`. Also `" +
			spotpool.CurrencyVariable + "`. Default: that of " +
			"`endpoint` or `domain`, since an international account uses a host with the label `intl`."),
	}
}

func assumeRoleAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"role_arn":     requiredString("ARN of the role. Also `TENCENTCLOUD_ASSUME_ROLE_ARN`."),
		"session_name": optionalString("Name of the session, for the audit log. Also `TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME`."),
		"session_duration": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "Session duration in seconds, 1 to 43200. Sessions are renewed in time. Also " +
				"`TENCENTCLOUD_ASSUME_ROLE_SESSION_DURATION`. Default: `7200`.",
		},
		"policy":          optionalString("CAM policy, as JSON, that narrows the role's permissions further."),
		"external_id":     optionalString("External ID that the role requires. Also `TENCENTCLOUD_ASSUME_ROLE_EXTERNAL_ID`."),
		"source_identity": optionalString("Identity of the caller, for the audit log. Also `TENCENTCLOUD_ASSUME_ROLE_SOURCE_IDENTITY`."),
		"serial_number":   optionalString("Serial number of the MFA device. Also `TENCENTCLOUD_ASSUME_ROLE_SERIAL_NUMBER`."),
		"token_code":      optionalSecret("Code of the MFA device. Also `TENCENTCLOUD_ASSUME_ROLE_TOKEN_CODE`."),
	}
}

func webIdentityAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"provider_id":        optionalString("Name of the identity provider in CAM. Default: `OIDC`."),
		"web_identity_token": optionalSecret("The token itself. Also `TENCENTCLOUD_ASSUME_ROLE_WEB_IDENTITY_TOKEN`."),
		"web_identity_token_file": optionalString("File with the token, instead; it is read again whenever the session is renewed. Also " +
			"`TENCENTCLOUD_ASSUME_ROLE_WEB_IDENTITY_TOKEN_FILE`."),
		"role_arn":     requiredString("ARN of the role. Also `TENCENTCLOUD_ASSUME_ROLE_ARN`."),
		"session_name": optionalString("Name of the session, for the audit log."),
		"session_duration": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Session duration in seconds, 1 to 43200. Sessions are renewed in time. Default: `7200`.",
		},
	}
}

func optionalString(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

func requiredString(description string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, MarkdownDescription: description}
}

func optionalSecret(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: description}
}
