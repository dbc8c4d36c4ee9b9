package cvmsim

import (
	"encoding/base64"
	"strings"
)

func readLogin(s *launchSpec, p launchParams) *apiError {
	login := or(p.LoginSettings, loginParams{})
	keep := or(login.KeepImageLogin, "")
	switch strings.ToLower(keep) {
	case "", "false", "true":
		s.template.KeepImageLogin = strings.EqualFold(keep, "true")
	default:
		return fail("InvalidParameterValue", "`KeepImageLogin` must be true or false.")
	}
	ways := 0
	for _, given := range []bool{login.Password != nil, len(login.KeyIDs) > 0, s.template.KeepImageLogin} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return fail("InvalidParameterCombination", "`Password`, `KeyIds` and `KeepImageLogin` exclude each other.")
	}
	if s.template.KeepImageLogin && imageOf(s.template.ImageID).ImageType == imagePublic {
		// Custom, shared and imported images alone keep theirs (cvm models.go,
		// LoginSettings.KeepImageLogin). RunInstances lists this code; that it
		// is the one is assumed, documented nowhere.
		return fail("InvalidParameterCombination", "`KeepImageLogin` can't be true with the public image `%s`.", s.template.ImageID)
	}
	for _, id := range login.KeyIDs {
		if failure := checkID(keyID, "InvalidKeyPairId.Malformed", id); failure != nil {
			return failure
		}
	}
	s.template.KeyIDs = login.KeyIDs
	if login.Password != nil && !strongPassword(*login.Password) {
		return fail("InvalidPassword", "`Password` must have 8 to 30 characters of at least two classes.")
	}
	return nil
}

// strongPassword applies the rule for Linux instances. The password itself is
// not kept anywhere.
func strongPassword(password string) bool {
	if len(password) < 8 || len(password) > 30 {
		return false
	}
	classes := map[string]bool{}
	for _, r := range password {
		switch {
		case r >= 'a' && r <= 'z':
			classes["lower"] = true
		case r >= 'A' && r <= 'Z':
			classes["upper"] = true
		case r >= '0' && r <= '9':
			classes["digit"] = true
		case strings.ContainsRune("()`~!@#$%^&*-+=|{}[]:;',.?/", r):
			classes["special"] = true
		default:
			return false
		}
	}
	return len(classes) >= 2
}

func readUserData(s *launchSpec, p launchParams) *apiError {
	s.template.UserData = or(p.UserData, "")
	return checkUserData(s.template.UserData)
}

func checkUserData(encoded string) *apiError {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return fail("InvalidParameterValue.InvalidUserDataFormat", "`UserData` is not base64.")
	}
	if len(raw) > maxUserData {
		return fail("InvalidParameterValue.TooLarge", "`UserData` must have at most 16 KB.")
	}
	return nil
}
