package client

import (
	"context"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReviewToken returns the user of a bearer token. The review says whether there is one.
func (c *Client) ReviewToken(ctx context.Context, token string) (authentication.TokenReviewStatus, error) {
	review := &authentication.TokenReview{Spec: authentication.TokenReviewSpec{Token: token}}
	review, err := c.kube.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return authentication.TokenReviewStatus{}, Wrap("create", "tokenreviews", err)
	}
	return review.Status, nil
}

// ReviewAccess reports whether a user may do something.
func (c *Client) ReviewAccess(ctx context.Context, u authentication.UserInfo, of authorization.ResourceAttributes) (bool, error) {
	review := &authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
		ResourceAttributes: &of, User: u.Username, UID: u.UID, Groups: u.Groups, Extra: map[string]authorization.ExtraValue{},
	}}
	for key, values := range u.Extra {
		review.Spec.Extra[key] = authorization.ExtraValue(values)
	}
	review, err := c.kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, Wrap("create", "subjectaccessreviews", err)
	}
	return review.Status.Allowed, nil
}
