// Package metadata is the instance metadata service of the local CVM.
package metadata

import (
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

var chinaTime = time.FixedZone("UTC+8", 8*60*60)

// instanceHeader names the calling instance. Tencent Cloud identifies it by the network; here all
// callers use loopback.
const instanceHeader = "X-Sim-Instance-Id"

const (
	metaPath        = "/latest/meta-data/"
	credentialsPath = "cam/security-credentials/"
	camSession      = 2 * time.Hour
)

// Service is the instance metadata service.
type Service struct {
	store   *world.Store
	account wire.Account
	role    string // listed if no instance is chosen
}

// New returns the metadata service of a world. role is listed if no instance is chosen.
func New(k *world.Store, a wire.Account, role string) *Service {
	return &Service{store: k, account: a, role: role}
}

// ServeHTTP responds as http://metadata.tencentyun.com does (API document 213/4934): text, or 404
// for a missing value.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		http.Error(w, "the metadata service answers GET only", http.StatusMethodNotAllowed)
		return
	}
	status, body := http.StatusNotFound, "there is no such instance\n"
	s.store.Read(func(w *world.World) {
		if in, ok := asking(w, r); ok {
			status, body = s.metadata(r.URL.Path, in, w.Now())
		}
	})
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the client may have disconnected
}

// asking returns the calling instance: by query, by header, or the only one. It is nil if unknown,
// and ok is false for one that does not exist.
func asking(w *world.World, r *http.Request) (in *world.Instance, ok bool) {
	id := r.URL.Query().Get("instance_id")
	if id == "" {
		id = r.Header.Get(instanceHeader)
	}
	if id != "" {
		in = w.Instances.Get(id)
		return in, in != nil
	}
	if all := w.Instances.Ordered(); len(all) == 1 {
		return all[0], true
	}
	return nil, true
}

func (s *Service) metadata(path string, in *world.Instance, now time.Time) (int, string) {
	key, isMeta := strings.CutPrefix(path, metaPath)
	if role, ok := strings.CutPrefix(key, credentialsPath); ok && isMeta {
		return s.camCredentials(role, in, now)
	}
	if in == nil {
		return http.StatusNotFound, "no instance: choose one with ?instance_id= or the header " + instanceHeader + "\n"
	}
	if path == "/latest/user-data" {
		raw, err := base64.StdEncoding.DecodeString(in.UserData)
		if err != nil || len(raw) == 0 {
			return http.StatusNotFound, ""
		}
		return http.StatusOK, string(raw)
	}
	value := ""
	if field := metadataFields[key]; field != nil && isMeta {
		value = field(in)
	}
	if value == "" {
		return http.StatusNotFound, ""
	}
	return http.StatusOK, value
}

// metadataFields are the keys under /latest/meta-data/; an empty value is a
// 404.
var metadataFields = map[string]func(*world.Instance) string{
	"instance-id":            func(in *world.Instance) string { return in.ID },
	"instance-name":          func(in *world.Instance) string { return in.Name },
	"uuid":                   func(in *world.Instance) string { return in.UUID },
	"local-ipv4":             func(in *world.Instance) string { return in.PrivateIP },
	"public-ipv4":            func(in *world.Instance) string { return in.PublicIP },
	"hostname":               hostName,
	"local-hostname":         hostName,
	"mac":                    macAddress,
	"app-id":                 func(*world.Instance) string { return strconv.Itoa(wire.AppID) },
	"placement/region":       func(in *world.Instance) string { return in.Region },
	"placement/zone":         func(in *world.Instance) string { return in.Zone },
	"payment/charge-type":    func(in *world.Instance) string { return in.ChargeType },
	"payment/create-time":    func(in *world.Instance) string { return in.CreatedAt.In(chinaTime).Format(time.DateTime) },
	"instance/image-id":      func(in *world.Instance) string { return in.ImageID },
	"instance/instance-type": func(in *world.Instance) string { return in.Type },
	"spot/termination-time":  terminationTime,
}

// terminationTime returns when the instance will be reclaimed. It is empty, and so 404, for other
// instances and without an announcement.
func terminationTime(in *world.Instance) string {
	if in.ChargeType != world.ChargeSpot || in.ReclaimAt.IsZero() {
		return ""
	}
	return in.ReclaimAt.In(chinaTime).Format(time.DateTime)
}

func hostName(in *world.Instance) string {
	if in.HostName != "" {
		return in.HostName
	}
	return "VM-" + strings.ReplaceAll(strings.TrimPrefix(in.PrivateIP, "10."), ".", "-") + "-tencentos"
}

func macAddress(in *world.Instance) string {
	hex := strings.ReplaceAll(in.UUID, "-", "")
	return "52:54:00:" + hex[0:2] + ":" + hex[2:4] + ":" + hex[4:6]
}

// camCredentials issues the credentials of the instance's role, or of any role if no instance is
// chosen.
func (s *Service) camCredentials(role string, in *world.Instance, now time.Time) (int, string) {
	bound := s.role
	if in != nil {
		bound = in.CamRoleName
	}
	if role == "" && bound != "" {
		return http.StatusOK, bound
	}
	if !wire.RoleName.Fits(role) || in != nil && role != bound {
		return http.StatusNotFound, ""
	}
	session := "local-cvm"
	if in != nil {
		session = in.ID
	}
	key := s.account.Issue(role, session, now.Add(camSession))
	return http.StatusOK, string(wire.MustJSON(map[string]any{
		"TmpSecretId": key.SecretID, "TmpSecretKey": key.SecretKey, "Token": key.Token,
		"ExpiredTime": key.Expires.Unix(), "Expiration": key.Expires.UTC().Format(wire.TimeLayout), "Code": "Success",
	}))
}
