package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Secrets of bootstrap tokens: their namespace, the prefix of their names, and the fields that policies
// check. See token/api in k8s.io/cluster-bootstrap.
const (
	TokenNamespace  = metav1.NamespaceSystem
	TokenPrefix     = "bootstrap-token-"
	TokenType       = corev1.SecretTypeBootstrapToken
	TokenGroups     = "auth-extra-groups"
	TokenExpiration = "expiration"
)

// longestToken is the maximum validity of a token. A policy that allows a day accepts it, by the clock of any
// API server.
const longestToken = 24*time.Hour - time.Minute

// CreateToken creates the Secret of a bootstrap token, which has its pool's mark.
func (c *tokenClient) CreateToken(ctx context.Context, t node.BootstrapToken) error {
	return c.createToken(ctx, t, metav1.CreateOptions{FieldManager: fieldManager})
}

// TokenTaken reports whether there is a Secret of a bootstrap token's id, by a creation
// that is not carried out: no account may read one.
func (c *tokenClient) TokenTaken(ctx context.Context, t node.BootstrapToken) (bool, error) {
	err := c.createToken(ctx, t, metav1.CreateOptions{FieldManager: fieldManager, DryRun: []string{metav1.DryRunAll}})
	if errors.Is(err, node.ErrTokenExists) {
		return true, nil
	}
	return false, err
}

func (c *tokenClient) createToken(ctx context.Context, t node.BootstrapToken, how metav1.CreateOptions) error {
	now := c.Now()
	if now.IsZero() { // nothing was asked of the API server before
		if _, err := c.UID(ctx); err != nil {
			return err
		}
		now = c.Now()
	}
	expires := t.ExpiresAt
	if most := now.Add(longestToken); expires.After(most) {
		expires = most
	}
	_, err := c.kube.CoreV1().Secrets(TokenNamespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: TokenPrefix + t.ID, Annotations: map[string]string{NodePoolAnnotation: t.PoolUID}},
		Type:       TokenType,
		StringData: map[string]string{
			"description": "lets instances of the gpupool spot pool " + t.Pool + " join",
			"token-id":    t.ID, "token-secret": t.Secret,
			TokenExpiration:                  expires.UTC().Format(time.RFC3339),
			"usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			TokenGroups: strings.Join(t.Groups, ","),
		},
	}, how)
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the Secret %s%s of %s: %w", TokenPrefix, t.ID, TokenNamespace, node.ErrTokenExists)
	}
	return kubeclient.Wrap("create", "secrets "+TokenNamespace+"/"+TokenPrefix+t.ID, err)
}

// DeleteToken deletes the Secret of a bootstrap token. One that is gone is no error.
func (c *tokenClient) DeleteToken(ctx context.Context, id string) error {
	err := c.kube.CoreV1().Secrets(TokenNamespace).Delete(ctx, TokenPrefix+id, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return kubeclient.Wrap("delete", "secrets "+TokenNamespace+"/"+TokenPrefix+id, err)
}
