package joining

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const group = "system:bootstrappers:kubeadm:default-node-token"

// rig is a cluster as kubeadm leaves it, a local CVM and a store, and all output of gpupool.
type rig struct {
	t      *testing.T
	server *kubetest.Cluster
	sim    *cvmsimtest.Sim
	dir    string
	said   bytes.Buffer
	// kubeconfig is by which gpupool reaches the cluster.
	kubeconfig string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, server: kubetest.StartOwn(t, "--no-kubelet", "--no-scheduler"), dir: t.TempDir() + "/store"}
	r.kubeconfig = r.server.Kubeconfig()
	r.sim = cvmsimtest.Start(t, func(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay = -1, -1 })
	for name, role := range map[string]string{
		"kubeadm:kubelet-bootstrap":          "system:node-bootstrapper",
		"kubeadm:node-autoapprove-bootstrap": "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
	} {
		kubetest.Create(t, r.server, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
		})
	}
	return r
}

func (r *rig) place() processtest.Place {
	return processtest.Place{Dir: r.dir, Kubeconfig: r.kubeconfig, CVM: r.sim.URL}
}

func (r *rig) pools() *spotpools.Flow {
	r.t.Helper()
	return r.place().Process(r.t, "terraform").SpotPools()
}

// gpupool runs the command line, which must end with a code, and returns what it prints.
func (r *rig) gpupool(want int, args ...string) string {
	r.t.Helper()
	var out bytes.Buffer
	code := cli.Run(processtest.Command(r.place().Environment(), &out, &out, args...))
	if code != want {
		r.t.Errorf("gpupool %s ended with %d, want %d\n%s", strings.Join(args, " "), code, want, &out)
	}
	r.said.Write(out.Bytes())
	return out.String()
}

func (r *rig) own() []string {
	var ids []string
	for _, i := range r.sim.Server.Instances() {
		if i.Pool == "train" {
			ids = append(ids, i.InstanceID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (r *rig) tokens() []corev1.Secret {
	r.t.Helper()
	all, err := r.server.Client().CoreV1().Secrets(metav1.NamespaceSystem).List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.DeleteFunc(all.Items, func(s corev1.Secret) bool { return s.Type != corev1.SecretTypeBootstrapToken })
}

// secretless fails if a secret is in the output of gpupool, or in its store.
func (r *rig) secretless(secrets ...string) {
	r.t.Helper()
	for _, secret := range secrets {
		if strings.Contains(r.said.String(), secret) {
			r.t.Error("gpupool printed the secret of a token")
		}
		err := filepath.WalkDir(r.dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(secret)) {
				r.t.Errorf("the secret of a token is in %s", path)
			}
			return err
		})
		if err != nil {
			r.t.Error(err)
		}
	}
}

func whoAmI(ctx context.Context, client kubernetes.Interface) (authenticationv1.UserInfo, error) {
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return review.Status.UserInfo, nil
}

// TestMachinesJoinByTheTokenOfTheirLaunch: two machines of one launch join by the token
// that they find in their user data, which goes once both have.
func TestMachinesJoinByTheTokenOfTheirLaunch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := spotpool.Declaration{
		Name: "train", Region: "ap-singapore", Minimum: 2, Maximum: 3, Nodes: &spotpool.Nodes{},
		Offerings: []spotpool.Offering{{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4"}},
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4",
			UserData: "#!/bin/sh\nkubeadm join --token " + spotpool.BootstrapTokenPlaceholder + " 10.0.0.2:6443\n",
		},
		BootstrapToken: &spotpool.BootstrapToken{Groups: []string{group}},
	}
	state, err := r.pools().Create(t.Context(), d.WithDefaults(), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	made := r.tokens()
	if len(made) != 1 || string(made[0].Data["auth-extra-groups"]) != group || made[0].Annotations[kubecluster.NodePoolAnnotation] != state.Declaration.UID {
		t.Fatalf("the tokens are %+v", made)
	}
	expires, err := time.Parse(time.RFC3339, string(made[0].Data["expiration"]))
	if left := time.Until(expires); err != nil || left < 29*time.Minute || left > 30*time.Minute {
		t.Errorf("it expires in %s (%v)", left, err)
	}
	var machines []*machine
	for _, id := range r.own() {
		machines = append(machines, boot(t, r.server, r.sim.URL, id))
	}
	if len(machines) != 2 || machines[0].token != machines[1].token ||
		machines[0].token != string(made[0].Data["token-id"])+"."+string(made[0].Data["token-secret"]) {
		t.Fatalf("of %d machines, some have another token than the Secret", len(machines))
	}
	first, second, secret := machines[0], machines[1], string(made[0].Data["token-secret"])
	kubetest.WaitFor(t, "the token to sign in", func(ctx context.Context) error {
		user, err := whoAmI(ctx, first.byToken())
		if err == nil && (user.Username != "system:bootstrap:"+string(made[0].Data["token-id"]) || !slices.Contains(user.Groups, group)) {
			err = fmt.Errorf("it signs in as %+v", user)
		}
		return err
	})
	if _, err := first.byToken().CoreV1().Secrets(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("by the token, the Secrets of the system are to be read: %v", err)
	}

	kubelet := first.join()
	r.gpupool(0, "reconcile")
	if left := r.tokens(); len(left) != 1 {
		t.Fatalf("with one machine to join still, %d tokens are there", len(left))
	}
	second.join()
	if printed := r.gpupool(0, "reconcile", "-o", "json"); !strings.Contains(printed, `"kind": "end_token"`) ||
		!strings.Contains(printed, string(made[0].Data["token-id"])) {
		t.Errorf("the run that ends the token says %s", printed)
	}
	if left := r.tokens(); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name)
	}
	kubetest.WaitFor(t, "the token to sign in no more", func(ctx context.Context) error {
		if user, err := whoAmI(ctx, first.byToken()); !apierrors.IsUnauthorized(err) {
			return fmt.Errorf("it signs in as %+v (%w)", user, err)
		}
		return nil
	})
	// A joined node stays.
	if user, err := whoAmI(t.Context(), kubelet); err != nil || user.Username != "system:node:"+first.name() {
		t.Errorf("the kubelet is %+v (%v)", user, err)
	}
	printed := r.gpupool(0, "status", "train", "-o", "json") + r.gpupool(0, "status", "train") + r.gpupool(0, "history") + r.gpupool(0, "explain", "train") +
		r.gpupool(0, "reconcile", "-vv", "--log-format", "json")
	if !strings.Contains(printed, `"ready": 2`) {
		t.Errorf("two nodes are not ready: %s", printed)
	}
	r.secretless(secret)
	r.withoutTheCluster(state.Declaration)
}

// withoutTheCluster: an instance that could not join is not launched, and the run reports it
// and exits with 3. A pool without nodes is not affected.
func (r *rig) withoutTheCluster(d spotpool.Declaration) {
	r.t.Helper()
	plain := d
	plain.Name, plain.UID, plain.ClusterUID, plain.Minimum = "plain", "", "", 1
	plain.Nodes, plain.BootstrapToken, plain.UserData = nil, nil, ""
	if _, err := r.pools().Create(r.t.Context(), plain, 20*time.Second); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "plain", Count: 1}); err != nil {
		r.t.Fatal(err)
	}
	r.kubeconfig = filepath.Join(r.t.TempDir(), "away")
	text, err := os.ReadFile(r.server.Kubeconfig())
	if err == nil {
		err = os.WriteFile(r.kubeconfig, bytes.ReplaceAll(text, []byte(r.server.Config().Host), []byte("https://127.0.0.1:1")), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	d.Minimum = 3
	if _, err := r.pools().Update(r.t.Context(), d, 0); err == nil || !strings.Contains(err.Error(), "without which its instances could not join") {
		r.t.Errorf("an apply without the cluster says %v", err)
	}
	if printed := r.gpupool(3, "reconcile"); !strings.Contains(printed, "connection refused") || !strings.Contains(printed, "launched 1") {
		r.t.Errorf("the run says %s", printed)
	}
	if own := r.own(); len(own) != 2 {
		r.t.Errorf("without the cluster, the pool has %d machines", len(own))
	}
	r.kubeconfig = r.server.Kubeconfig()
	r.gpupool(0, "reconcile")
	own := r.own()
	if tokens := r.tokens(); len(own) != 3 || len(tokens) != 1 {
		r.t.Errorf("with the cluster again, there are %d machines and %d tokens", len(own), len(tokens))
	}
	d.Generation++ // the update that failed is recorded
	r.destroy(d)
	if tokens := r.tokens(); len(tokens) > 0 {
		r.t.Errorf("%s outlives its pool", tokens[0].Name)
	}
}

// destroy repeats a destroy for some minutes of simulated time. A node is deleted once two
// observations a minute apart show that its instance is gone.
func (r *rig) destroy(d spotpool.Declaration) {
	r.t.Helper()
	var err error
	for range 4 {
		if _, err = r.pools().Delete(r.t.Context(), d, 10*time.Second); err == nil {
			return
		}
		cvmsimtest.Step(r.t, r.sim, 2*time.Minute)
		r.silence()
	}
	r.t.Errorf("the destroy says %v", err)
}

// silence does what the cluster does once the kubelets of ended machines no longer report.
func (r *rig) silence() {
	r.t.Helper()
	nodes := r.server.Client().CoreV1().Nodes()
	list, err := nodes.List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, n := range list.Items {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(time.Now())}}
		if _, err := nodes.UpdateStatus(r.t.Context(), &n, metav1.UpdateOptions{}); err != nil {
			r.t.Fatal(err)
		}
	}
}
