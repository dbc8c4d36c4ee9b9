package tencent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// camRole reads the temporary secret of the CAM role that is bound to this very
// machine from its metadata service (API document 213/4934).
type camRole struct {
	api      *api
	endpoint string
	name     string
}

func (s camRole) describe() string { return "the CVM role " + s.name }

func (s camRole) retrieve(ctx context.Context) (credentials, error) {
	address := strings.TrimSuffix(s.endpoint, "/") + "/latest/meta-data/cam/security-credentials/" + url.PathEscape(s.name)
	status, body, err := s.api.get(ctx, address)
	if err != nil {
		return credentials{}, fmt.Errorf("the metadata service %s does not answer, so this is hardly a CVM instance; use another kind of credentials here: %w",
			s.endpoint, err)
	}
	if status == http.StatusNotFound {
		return credentials{}, fmt.Errorf("this instance has no CAM role %q: bind it in the CVM console, or correct cam_role_name", s.name)
	}
	if status != http.StatusOK {
		return credentials{}, fmt.Errorf("the metadata service %s answered HTTP %d", s.endpoint, status)
	}
	var answer struct {
		SecretID    string `json:"TmpSecretId"`
		SecretKey   string `json:"TmpSecretKey"`
		Token       string
		ExpiredTime int64 // seconds since 1970
		Code        string
	}
	// The decoder's own error may quote the secret.
	if json.Unmarshal(body, &answer) != nil {
		return credentials{}, errors.New("the response of the metadata service is not a JSON object")
	}
	if answer.Code != "Success" || answer.SecretID == "" || answer.SecretKey == "" || answer.ExpiredTime == 0 {
		return credentials{}, fmt.Errorf("the metadata service has no secret for the role: code %q", answer.Code)
	}
	return credentials{secretID: answer.SecretID, secretKey: answer.SecretKey, token: answer.Token, expires: time.Unix(answer.ExpiredTime, 0)}, nil
}
