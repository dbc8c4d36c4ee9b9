package cvm

import (
	"encoding/base64"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

func readLogin(s *launchSpec, p launch.Params) *wire.Error {
	login := wire.Or(p.LoginSettings, launch.Login{})
	keep := strings.ToLower(wire.Or(login.KeepImageLogin, ""))
	if failure := checkValue("KeepImageLogin", keep, "", "false", "true"); failure != nil {
		return failure
	}
	s.Instance.KeepImageLogin = keep == "true"
	ways := 0
	for _, given := range []bool{login.Password != nil, len(login.KeyIDs) > 0, s.Instance.KeepImageLogin} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return wire.Fail("InvalidParameterCombination", "`Password`, `KeyIds` and `KeepImageLogin` exclude each other.")
	}
	if s.Instance.KeepImageLogin && imageOf(s.Instance.ImageID).ImageType == imagePublic {
		// Only custom, shared and imported images keep theirs (cvm models.go,
		// LoginSettings.KeepImageLogin). RunInstances documents this code; that it applies here is
		// assumed.
		return wire.Fail("InvalidParameterCombination", "`KeepImageLogin` cannot be true with the public image `%s`.", s.Instance.ImageID)
	}
	if failure := wire.KeyID.Check(login.KeyIDs...); failure != nil {
		return failure
	}
	s.Instance.KeyIDs = login.KeyIDs
	if login.Password != nil && !strongPassword(*login.Password) {
		return wire.Fail("InvalidPassword", "`Password` must have 8 to 30 characters of at least two classes.")
	}
	return nil
}

// strongPassword applies the rule for Linux instances. The password itself is not stored.
func strongPassword(password string) bool {
	if len(password) < 8 || len(password) > 30 {
		return false
	}
	classes := 0
	for _, class := range []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "()`~!@#$%^&*-+=|{}[]:;',.?/"} {
		if strings.ContainsAny(password, class) {
			classes++
			password = strings.Map(func(r rune) rune {
				if strings.ContainsRune(class, r) {
					return -1
				}
				return r
			}, password)
		}
	}
	return classes >= 2 && password == ""
}

func readUserData(s *launchSpec, p launch.Params) *wire.Error {
	s.Instance.UserData = wire.Or(p.UserData, "")
	raw, err := base64.StdEncoding.DecodeString(s.Instance.UserData)
	if err != nil {
		return wire.Fail("InvalidParameterValue.InvalidUserDataFormat", "`UserData` is not base64.")
	}
	if len(raw) > maxUserData {
		return wire.Fail("InvalidParameterValue.TooLarge", "`UserData` must have at most 16 KB.")
	}
	return nil
}
