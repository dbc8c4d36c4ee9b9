package cvmsim

type getCallerIdentityRequest struct{}

type getCallerIdentityResponse struct {
	Arn         string `json:"Arn"`
	AccountID   string `json:"AccountId"`
	UserID      string `json:"UserId"`
	PrincipalID string `json:"PrincipalId"`
	Type        string `json:"Type"`
}

// getCallerIdentity tells whose credentials signed the call.
func getCallerIdentity(_ *world, c *call, _ *getCallerIdentityRequest) (*getCallerIdentityResponse, *apiError) {
	account := c.server.options.AccountID
	answer := &getCallerIdentityResponse{
		Arn: "qcs::cam::uin/" + account + ":uin/" + account, AccountID: account,
		UserID: account, PrincipalID: account, Type: "RootAccount",
	}
	if role := c.identity.Role; role != "" {
		answer.Arn = "qcs::sts::uin/" + account + ":assumed-role/" + role + "/" + c.identity.Session
		answer.UserID = role + ":" + c.identity.Session
		answer.PrincipalID, answer.Type = role, "CAMRole"
	}
	return answer, nil
}
