package joining

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// machine is what runs on an instance: it knows its id, its user data, and where the API
// server is.
type machine struct {
	t      *testing.T
	server *kubetest.Cluster
	id     string
	token  string // from its user data
}

var joinLine = regexp.MustCompile(`kubeadm join --token ([a-z0-9]{6}\.[a-z0-9]{16}) `)

// boot asks the metadata service of the local CVM for the instance's user data, and finds
// the token there.
func boot(t *testing.T, server *kubetest.Cluster, endpoint, id string) *machine {
	t.Helper()
	asked, err := http.NewRequestWithContext(t.Context(), http.MethodGet, endpoint+"/latest/user-data?instance_id="+id, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answered, err := http.DefaultClient.Do(asked)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answered.Body.Close() }()
	text, err := io.ReadAll(answered.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := joinLine.FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s finds no token in its user data: %q", id, text)
	}
	return &machine{t: t, server: server, id: id, token: string(found[1])}
}

// name is that of the node which the machine becomes.
func (m *machine) name() string { return "node-" + m.id }

func (m *machine) byToken() kubernetes.Interface {
	m.t.Helper()
	config := rest.AnonymousClientConfig(m.server.Config())
	config.BearerToken, config.QPS, config.WarningHandlerWithContext = m.token, -1, rest.NoWarnings{}
	return m.client(config)
}

func (m *machine) client(config *rest.Config) kubernetes.Interface {
	m.t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		m.t.Fatal(err)
	}
	return client
}

// join does what a kubelet does: it has a certificate signed that the token lets it ask
// for, and registers its node by that.
func (m *machine) join() kubernetes.Interface {
	m.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		m.t.Fatal(err)
	}
	asked, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "system:node:" + m.name(), Organization: []string{"system:nodes"}},
	}, key)
	if err != nil {
		m.t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		m.t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(m.server.Config())
	config.QPS = -1
	config.KeyData = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
	config.CertData = m.signed(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: asked}))
	kubelet := m.client(config)
	nodes := kubelet.CoreV1().Nodes()
	n, err := nodes.Create(m.t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: m.name()}, Spec: corev1.NodeSpec{ProviderID: "qcloud:///800002/" + m.id},
	}, metav1.CreateOptions{})
	if err != nil {
		m.t.Fatalf("registering the node of %s: %v", m.id, err)
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now())}}
	if _, err := nodes.UpdateStatus(m.t.Context(), n, metav1.UpdateOptions{}); err != nil {
		m.t.Fatalf("saying that the node of %s is Ready: %v", m.id, err)
	}
	return kubelet
}

// signed is the certificate that the cluster's own controllers approve and sign.
func (m *machine) signed(request []byte) []byte {
	m.t.Helper()
	requests := m.byToken().CertificatesV1().CertificateSigningRequests()
	made, err := requests.Create(m.t.Context(), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "node-csr-"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: request, SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
			Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		m.t.Fatalf("asking for a certificate of %s: %v", m.id, err)
	}
	var certificate []byte
	kubetest.WaitFor(m.t, "the certificate of "+m.id, func(ctx context.Context) error {
		now, err := requests.Get(ctx, made.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if certificate = now.Status.Certificate; len(certificate) == 0 {
			return errors.Join(errors.New("it is not signed"), fmt.Errorf("%+v", now.Status.Conditions))
		}
		return nil
	})
	return certificate
}
