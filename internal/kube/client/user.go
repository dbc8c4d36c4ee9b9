package client

import (
	"context"

	authentication "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// User is the API server's name for the client's user: every user may ask for their own name.
func (c *Client) User(ctx context.Context) (string, error) {
	review, err := c.kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authentication.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", Wrap("create", "selfsubjectreviews", err)
	}
	return review.Status.UserInfo.Username, nil
}
