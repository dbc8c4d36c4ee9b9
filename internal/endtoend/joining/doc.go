// Package joining tests how instances become nodes by the tokens of their launches: on
// the API server, with the controllers that approve and sign certificates under the roles
// that kubeadm binds, and on a local CVM whose instances find their tokens in their user
// data. Nothing lives in here but tests.
package joining
