// Package joining tests how instances become nodes by the tokens of their launches. On the API
// server, controllers approve and sign certificates under the roles that kubeadm binds. On a
// local CVM, instances find their tokens in their user data. The package contains only tests.
package joining
