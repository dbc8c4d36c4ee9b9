package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func providerSchema() schema.Schema {
	attributes := cloudAttributes()
	attributes["assume_role"] = schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Role to take on with the credentials found otherwise.",
		Attributes:          assumeRoleAttributes(),
	}
	attributes["assume_role_with_web_identity"] = schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Role to take on with the token of an identity provider, as CI systems hand out.",
		Attributes:          webIdentityAttributes(),
	}
	attributes["kubernetes"] = schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Cluster whose GPU-hours the budgets count, and where a store in Kubernetes is, with the names and the environment variables " +
			"of the official Kubernetes provider. " +
			"Where it is left out, and no variable names a cluster, the service account of the pod that this runs in. As with the official provider, " +
			"`KUBECONFIG` is not read. Pools alone need no cluster.",
		Attributes: kubernetesAttributes(),
	}
	attributes["store"] = schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Where declarations, journals and locks are kept: what is applied here is kept up by `gpupool reconcile` from the same store. " +
			"Where it is left out, the environment variable `GPUPOOL_STORE`, such as `directory:/srv/gpupool`; else the directory `.gpupool` in the " +
			"working directory. It is created where it is missing.",
		Attributes: map[string]schema.Attribute{
			"directory": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Path of a directory that everyone who manages these pools can reach.",
			},
			"kubernetes_namespace": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Namespace of the cluster that `kubernetes` reaches, instead of a directory.",
			},
		},
	}
	return schema.Schema{
		MarkdownDescription: "The gpupool provider keeps pools of Tencent Cloud GPU spot instances at their size, and holds the pods of a Kubernetes " +
			"cluster to budgets of GPU-hours. " +
			"Its arguments for the cloud have the names and the environment variables of the official Tencent Cloud provider, and those for the cluster " +
			"the ones of the official Kubernetes provider. " +
			"Neither is asked before the first pool or the first budget needs it: budgets alone need no credentials of the cloud, and pools alone no cluster.",
		Attributes: attributes,
	}
}

func cloudAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"region": optionalString("Region of pools that name none, such as `ap-singapore`. Also `TENCENTCLOUD_REGION`, or the profile's region. Default: " +
			"`ap-guangzhou`."),
		"secret_id": optionalString("Id of the API secret. Also `TENCENTCLOUD_SECRET_ID`. " +
			"Where neither is set, the profile, then the instance's or the pod's role are asked."),
		"secret_key":     optionalSecret("Key of the API secret. Also `TENCENTCLOUD_SECRET_KEY`."),
		"security_token": optionalSecret("Token of temporary credentials. Also `TENCENTCLOUD_SECURITY_TOKEN`."),
		"profile":        optionalString("Profile in `shared_credentials_dir`. Also `TENCENTCLOUD_PROFILE`. Default: `default`."),
		"shared_credentials_dir": optionalString("Directory with the profiles of the command line tool tccli. Also `TENCENTCLOUD_SHARED_CREDENTIALS_DIR`. " +
			"Default: `~/.tccli`."),
		"cam_role_name": optionalString("CAM role of the instance that this runs on. Also `TENCENTCLOUD_CAM_ROLE_NAME`."),
		"enable_pod_oidc": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Whether to take on the role that TKE gives the pod that this runs in, by its `TKE_*` environment variables. " +
				"Default: `false`.",
		},
		"allowed_account_ids": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Accounts that may be used. With credentials of any other one, nothing is touched.",
		},
		"forbidden_account_ids": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Accounts that must not be used.",
		},
		"protocol": optionalString("`HTTPS` or `HTTP`. Whoever stands on the way of plain HTTP reads user data and temporary credentials, and each plan " +
			"warns of it. Also `TENCENTCLOUD_PROTOCOL`. Default: `HTTPS`."),
		"domain": optionalString("Root domain of the API, such as `internal.tencentcloudapi.com`. Also `TENCENTCLOUD_DOMAIN`. Default: " +
			"`tencentcloudapi.com`."),
		"endpoint": optionalString("URL that stands for the CVM, tag and STS services alike, such as `http://127.0.0.1:9170` of `gpupool simulate`. No " +
			"other host is then called. One of plain HTTP on another machine is refused unless `protocol` is `HTTP`. Also `GPUPOOL_ENDPOINT`."),
	}
}

func assumeRoleAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"role_arn":     requiredString("ARN of the role. Also `TENCENTCLOUD_ASSUME_ROLE_ARN`."),
		"session_name": optionalString("Name of the session, for the audit log. Also `TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME`."),
		"session_duration": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "How long the session lasts in seconds, 1 to 43200; it is renewed in time. Also " +
				"`TENCENTCLOUD_ASSUME_ROLE_SESSION_DURATION`. Default: `7200`.",
		},
		"policy":          optionalString("CAM policy, as JSON, that narrows the role's permissions further."),
		"external_id":     optionalString("External id that the role asks for. Also `TENCENTCLOUD_ASSUME_ROLE_EXTERNAL_ID`."),
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
			MarkdownDescription: "How long the session lasts in seconds, 1 to 43200; it is renewed in time. Default: `7200`.",
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
