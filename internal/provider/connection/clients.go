package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

type clients struct {
	settings Settings
	account  once[*tencent.Client]
	client   once[*kubeclient.Client]
	identity once[string]
	cluster  once[*kubecluster.Cluster]
	uid      once[string]
}

// Region returns the default region of pools. It is that of the provider's argument, else the
// environment's, else the profile's, else the adapter's default.
func (c *clients) Region(ctx context.Context) (string, error) {
	if region := c.settings.Cloud.Region; region != "" {
		return region, nil
	}
	client, err := c.cloud(ctx)
	if err != nil {
		return "", err
	}
	return client.Region(), nil
}

// AccountID is the account of the credentials. The answer is remembered, even a
// refusal.
func (c *clients) AccountID(ctx context.Context) (string, error) {
	return c.identity.do(ctx, func() (string, error) {
		client, err := c.cloud(ctx)
		if err != nil {
			return "", err
		}
		return client.AccountID(ctx)
	})
}

// Currency returns the currency of the account's prices; false if provider arguments are unknown.
func (c *clients) Currency() (spotpool.Currency, bool) {
	return c.settings.Cloud.PriceCurrency(), len(c.settings.Unknown.Cloud()) == 0
}

// ClusterUID identifies the cluster by the uid of its namespace kube-system. The
// answer is remembered, even a refusal.
func (c *clients) ClusterUID(ctx context.Context) (string, error) {
	return c.uid.do(ctx, func() (string, error) {
		cluster, err := c.clusterOf(ctx)
		if err != nil {
			return "", err
		}
		return cluster.UID(ctx)
	})
}

func (c *clients) cloud(ctx context.Context) (*tencent.Client, error) {
	if err := c.settings.Unknown.Cloud().error(); err != nil {
		return nil, err
	}
	return c.account.do(ctx, func() (*tencent.Client, error) {
		settings := c.settings.Cloud
		settings.Logger = c.logger(ctx)
		client, err := tencent.New(ctx, settings)
		if err != nil {
			return nil, unusable{err}
		}
		return client, nil
	})
}

func (c *clients) kubernetes(ctx context.Context) (*kubeclient.Client, error) {
	if err := c.settings.Unknown.Cluster().error(); err != nil {
		return nil, err
	}
	return c.client.do(ctx, func() (*kubeclient.Client, error) {
		settings := c.settings.Kubernetes
		settings.Logger = c.logger(ctx)
		client, err := kubeclient.Open(settings, c.settings.Agent)
		switch {
		case errors.Is(err, kubeclient.ErrNoConfiguration):
			return nil, unusable{c.noCluster()}
		case err != nil:
			return nil, unusable{err}
		}
		return client, nil
	})
}

// noCluster is the client's error with the provider's arguments: only the CLI reads KUBECONFIG.
func (c *clients) noCluster() error {
	text := "no Kubernetes cluster is configured: set kubernetes.config_path, KUBE_CONFIG_PATH or KUBE_HOST, or run in a cluster"
	if c.settings.Kubeconfig != "" {
		text += ". " + fmt.Sprintf("KUBECONFIG (%s) is not read, as by the official Kubernetes provider: a plan must not "+
			"depend on a shell. The gpupool CLI reads it", c.settings.Kubeconfig)
	}
	return errors.New(text)
}

func (c *clients) clusterOf(ctx context.Context) (reconcile.Cluster, error) {
	cluster, err := c.cluster.do(ctx, func() (*kubecluster.Cluster, error) {
		client, err := c.kubernetes(ctx)
		if err != nil {
			return nil, err
		}
		return kubecluster.New(client), nil
	})
	if err != nil {
		return nil, err // not a nil cluster in an interface
	}
	return cluster, nil
}

func (c *clients) logger(ctx context.Context) *slog.Logger {
	s := c.settings
	return newLogger(ctx, s.Cloud.SecretKey, s.Cloud.SecurityToken, s.Kubernetes.Password, s.Kubernetes.Token, s.Kubernetes.ClientKey)
}

// imageTimeout bounds the lookup of an image. A plan continues without it.
const imageTimeout = 15 * time.Second

// ImageType is the type of an image of a region. It is asked for once, however many
// pools have the image.
func (c *clients) ImageType(ctx context.Context, region, id string) (tencent.ImageType, error) {
	if _, err := c.AccountID(ctx); err != nil {
		return tencent.ImageUnknown, err
	}
	client, err := c.cloud(ctx)
	if err != nil {
		return tencent.ImageUnknown, err
	}
	ctx, cancel := context.WithTimeout(ctx, imageTimeout)
	defer cancel()
	return client.ImageType(ctx, region, id)
}
