package helm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/strvals"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	storeNamespace = "gpupool-system"
	runNamespace   = "gpupool-system-run"
)

// cluster is an API server without kubelets, and Helm on it.
type cluster struct {
	t      *testing.T
	config *rest.Config
	client kubernetes.Interface
	helm   *action.Configuration
	mapper meta.RESTMapper
}

// start starts localkube, until the test ends.
func start(t *testing.T) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "helm-*") //nolint:usetesting // a socket's path has at most 104 bytes
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.Background(), binary(t, "GPUPOOL_LOCALKUBE", "localkube"), "serve", "--until-stdin-closes", "--dir="+dir)
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = command.Wait()
		_ = os.RemoveAll(dir)
	})
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	kubeconfig, ready := strings.CutPrefix(strings.TrimSpace(line), "ready kubeconfig=")
	if !ready {
		t.Fatalf("localkube was not ready: %s", &stderr)
	}
	c := &cluster{t: t}
	settings := cli.New()
	settings.KubeConfig = kubeconfig
	c.helm = action.NewConfiguration()
	if err := c.helm.Init(settings.RESTClientGetter(), "default", "secret"); err != nil {
		t.Fatal(err)
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		t.Fatal(err)
	}
	c.config.QPS = -1
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		t.Fatal(err)
	}
	if c.mapper, err = settings.RESTClientGetter().ToRESTMapper(); err != nil {
		t.Fatal(err)
	}
	return c
}

// set returns values as helm --set reads them.
func set(t *testing.T, texts ...string) values {
	t.Helper()
	all := values{}
	for _, text := range texts {
		if err := strvals.ParseInto(text, all); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func (c *cluster) install(of values) *release.Release {
	c.t.Helper()
	chart, err := loader.Load(chartDirectory)
	if err != nil {
		c.t.Fatal(err)
	}
	i := action.NewInstall(c.helm)
	i.ReleaseName, i.Namespace, i.WaitStrategy, i.Timeout = "gpupool", "default", kube.HookOnlyStrategy, time.Minute
	made, err := i.Run(chart, of)
	if err != nil {
		c.t.Fatal(err)
	}
	return made.(*release.Release)
}

func (c *cluster) upgrade(of values) *release.Release {
	c.t.Helper()
	chart, err := loader.Load(chartDirectory)
	if err != nil {
		c.t.Fatal(err)
	}
	u := action.NewUpgrade(c.helm)
	u.Namespace, u.WaitStrategy, u.Timeout = "default", kube.HookOnlyStrategy, time.Minute
	made, err := u.Run("gpupool", chart, of)
	if err != nil {
		c.t.Fatal(err)
	}
	return made.(*release.Release)
}

func (c *cluster) uninstall() {
	c.t.Helper()
	u := action.NewUninstall(c.helm)
	u.WaitStrategy, u.Timeout = kube.HookOnlyStrategy, time.Minute
	if _, err := u.Run("gpupool"); err != nil {
		c.t.Fatal(err)
	}
}

// eventually repeats a check until it returns no error.
func (c *cluster) eventually(check func() error) {
	c.t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	c.t.Fatal(err)
}

// gone reports an object that exists.
func (c *cluster) gone(object values) error {
	o := &unstructured.Unstructured{Object: object}
	kind := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return err
	}
	_, err = client.Resource(mapping.Resource).Namespace(o.GetNamespace()).Get(c.t.Context(), o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return errors.Join(err, errors.New(keyOf(object)+" exists"))
}

// token returns a token of an account.
func (c *cluster) token(namespace, account string) string {
	c.t.Helper()
	made, err := c.client.CoreV1().ServiceAccounts(namespace).CreateToken(c.t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return made.Status.Token
}

// pod runs the containers of a pod as processes.
type pod struct {
	*cluster
	spec        corev1.PodSpec
	directory   string
	environment []string
}

// pod prepares what a kubelet would: the volumes, and a token of the pod's account.
func (c *cluster) pod(spec corev1.PodSpec) *pod {
	c.t.Helper()
	p := &pod{cluster: c, spec: spec, directory: c.t.TempDir()}
	for _, volume := range spec.Volumes {
		p.mount(volume)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["a"] = &clientcmdapi.Cluster{
		Server: c.config.Host, CertificateAuthorityData: c.config.CAData, CertificateAuthority: c.config.CAFile,
	}
	config.AuthInfos["a"] = &clientcmdapi.AuthInfo{Token: c.token(runNamespace, spec.ServiceAccountName)}
	config.Contexts["a"] = &clientcmdapi.Context{Cluster: "a", AuthInfo: "a"}
	config.CurrentContext = "a"
	kubeconfig := filepath.Join(p.directory, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		c.t.Fatal(err)
	}
	p.environment = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + p.directory}
	return p
}

func (p *pod) mount(volume corev1.Volume) {
	p.t.Helper()
	files := map[string][]byte{}
	if of := volume.ConfigMap; of != nil {
		config, err := p.client.CoreV1().ConfigMaps(runNamespace).Get(p.t.Context(), of.Name, metav1.GetOptions{})
		if err != nil {
			p.t.Fatal(err)
		}
		for name, text := range config.Data {
			files[name] = []byte(text)
		}
	}
	if of := volume.Secret; of != nil {
		secret, err := p.client.CoreV1().Secrets(runNamespace).Get(p.t.Context(), of.SecretName, metav1.GetOptions{})
		if err != nil {
			p.t.Fatal(err)
		}
		files = secret.Data
	}
	directory := filepath.Join(p.directory, volume.Name)
	if err := os.Mkdir(directory, 0o700); err != nil {
		p.t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(directory, name), data, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// command is that of a container, with paths of this machine and a free port.
func (p *pod) command(ctx context.Context, of corev1.Container) *exec.Cmd {
	p.t.Helper()
	var arguments []string
	for _, text := range of.Args {
		for _, mount := range of.VolumeMounts {
			text = strings.ReplaceAll(text, mount.MountPath+"/", filepath.Join(p.directory, mount.Name)+"/")
		}
		arguments = append(arguments, strings.Replace(text, "--listen=:9171", "--listen=:0", 1))
	}
	command := exec.CommandContext(ctx, binary(p.t, "GPUPOOL_BIN", "gpupool"), arguments...)
	command.Dir, command.Env = p.directory, p.environment
	for _, variable := range of.Env {
		command.Env = append(command.Env, variable.Name+"="+variable.Value)
	}
	return command
}

// run runs a container to its end, and returns what it printed.
func (p *pod) run(of corev1.Container) string {
	p.t.Helper()
	out, err := p.command(p.t.Context(), of).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v: %v\n%s", of.Args, err, out)
	}
	return string(out)
}

// initialize runs the init containers of the pod.
func (p *pod) initialize() (printed string) {
	p.t.Helper()
	for _, container := range p.spec.InitContainers {
		printed += p.run(container)
	}
	return printed
}
