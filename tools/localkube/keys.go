package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Files of a directory that hold keys and certificates, PEM.
const (
	caCertificate    = "ca.crt"
	caKey            = "ca.key"
	serverCert       = "server.crt"
	serverKey        = "server.key"
	adminCertificate = "admin.crt"
	adminKey         = "admin.key"
	accountsKey      = "service-accounts.key"
	accountsPublic   = "service-accounts.pub"
)

// The names by which pods would reach the API server, and its address.
var serverNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}

// makeKeys fills a new directory with an authority of its own, what it signs,
// and the pair that signs service accounts' tokens. One that has them keeps
// them, so that kubeconfigs and tokens outlive a restart.
func (d *directory) makeKeys() error {
	_, err := os.Stat(d.path(adminCertificate))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	if err := d.writePair(caCertificate, caKey, ca.certificate.Raw, ca.key); err != nil {
		return err
	}
	if err := d.issue(ca, serverCert, serverKey, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    serverNames,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}); err != nil {
		return err
	}
	accounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(accounts.Public())
	if err != nil {
		return err
	}
	if err := d.writePEM(accountsPublic, "PUBLIC KEY", public); err != nil {
		return err
	}
	if err := d.writeKey(accountsKey, accounts); err != nil {
		return err
	}
	return d.issue(ca, adminCertificate, adminKey, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func newAuthority() (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "localkube"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	raw, err := sign(template, template, key.Public(), key)
	if err != nil {
		return authority{}, err
	}
	certificate, err := x509.ParseCertificate(raw)
	return authority{certificate: certificate, key: key}, err
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().AddDate(1, 0, 0)
	return x509.CreateCertificate(rand.Reader, template, parent, public, signer)
}

// issue writes a new key, and the authority's certificate for it.
func (d *directory) issue(ca authority, certificateFile, keyFile string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	raw, err := sign(template, ca.certificate, key.Public(), ca.key)
	if err != nil {
		return fmt.Errorf("sign %s: %w", certificateFile, err)
	}
	return d.writePair(certificateFile, keyFile, raw, key)
}

func (d *directory) writePair(certificateFile, keyFile string, certificate []byte, key crypto.Signer) error {
	if err := d.writeKey(keyFile, key); err != nil {
		return err
	}
	return d.writePEM(certificateFile, "CERTIFICATE", certificate)
}

func (d *directory) writeKey(name string, key crypto.Signer) error {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return d.writePEM(name, "PRIVATE KEY", raw)
}

func (d *directory) writePEM(name, kind string, raw []byte) error {
	return os.WriteFile(d.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600)
}

// admin makes what keys are missing, writes the administrator's kubeconfig,
// and returns a client's configuration from it.
func (d *directory) admin(address string) (*rest.Config, error) {
	if err := d.makeKeys(); err != nil {
		return nil, fmt.Errorf("make keys: %w", err)
	}
	var contents [3][]byte
	for i, name := range []string{caCertificate, adminCertificate, adminKey} {
		content, err := os.ReadFile(d.path(name))
		if err != nil {
			return nil, err
		}
		contents[i] = content
	}
	const name = "localkube"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthorityData: contents[0]}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: contents[1], ClientKeyData: contents[2]}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, d.path("kubeconfig")); err != nil {
		return nil, err
	}
	client, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	// Loopback needs no limit.
	client.QPS = -1
	return client, nil
}

func (d *directory) copyKubeconfig(to string) error {
	content, err := os.ReadFile(d.path("kubeconfig"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}
