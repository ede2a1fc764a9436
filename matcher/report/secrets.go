package report

// secretKinds are the secrets that training logs leak. The columns of a row are
//
//	name      what stands in the text instead: "[redacted GitHub token]"
//	pattern   what is a secret: its group "secret", or all of it without such a group
//	gates     lower-case literals, one of which every secret of the row has in or before it: they spare texts without it the pattern
//	that      what else the found text must look like, where words and numbers stand in the same places
//
// Rows are tried in this order, each on what the ones before left: first secrets with a shape of their own, then those in links and
// headers, then those that only a name in front tells. What a row has replaced is no secret to later rows (isPlaceholder).
//
// Shapes are those that issuers document: GitHub ("About authentication to GitHub", token formats), GitLab ("Token overview"), Slack
// ("Token types"), AWS ("IAM identifiers", unique ID prefixes), RFC 7519 for JSON web tokens, RFC 7468 for PEM, RFC 9110 and RFC 6750 for
// credentials in headers; of other issuers, the form in which they hand tokens out, as the catalogues of gitleaks (config/gitleaks.toml)
// and detect-secrets (detect_secrets/plugins) have it too. Where a secret has no mark of its own (Weights &
// Biases, Kaggle: plain hexadecimal, like a commit) the words around it must say what it is. A new row needs a text in the tests that
// has such a secret, and one that looks alike and has none.
var secretKinds = []secretKind{
	kind("private key", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?P<secret>(?:[^-]|-[^-])+)`, "private key-----", "private key block-----"),
	kind("private key", `(?P<secret>[A-Za-z0-9+/=\\\s]{4,})-----END [A-Z0-9 ]*PRIVATE KEY`, "private key-----", "private key block-----").that(isNoSpace),
	kind("private key id", `(?i)private_?key_?id["']?\s*[:=]\s*["']?(?P<secret>[0-9a-f]{40})\b`, "private_key_id", "privatekeyid"),
	kind("age key", `\bAGE-SECRET-KEY-1[0-9A-Z]{50,}`, "age-secret-key-1"),
	kind("Hugging Face token", `\b(?:hf|api_org)_[A-Za-z0-9]{30,}`, "hf_", "api_org_"),
	kind("Weights & Biases key", `\bwandb_v1_[A-Za-z0-9_]{30,}|\blocal-[0-9a-f]{40}\b`, "wandb_v1_", "local-"),
	kind("Weights & Biases key", `(?i)(?:wandb|weights ?& ?biases)[^\n]{0,80}?(?:login|key|password)[^\n]{0,80}?\b(?P<secret>(?:local-)?[0-9a-f]{40})\b`, "wandb", "biases"),
	kind("GitHub token", `\b(?:gh[oprsu]_[A-Za-z0-9_]{36,}|github_pat_[A-Za-z0-9_]{40,})`, "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"),
	kind("GitLab token", `\b(?:gl(?:pat|rt|dt|ptt|cbt|ft|ffct|imt|agent|soat|oas)-|GR1348941)[A-Za-z0-9_.-]{20,}`, "gl", "gr1348941"),
	kind("Slack token", `\bxox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9%/+=-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}`, "xox", "xapp-"),
	kind("Slack webhook", `hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,})`, "hooks.slack.com"),
	kind("Discord webhook", `discord(?:app)?\.com/api/webhooks/(?P<secret>\d+/[A-Za-z0-9_-]{20,})`, "/api/webhooks/"),
	kind("Telegram token", `\b\d{8,10}:AA[A-Za-z0-9_-]{32,}`, ":aa").that(isMixed),
	kind("AWS key", `\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, "a3t", "akia", "asia", "abia", "acca"),
	kind("AWS key", `\bABSK[A-Za-z0-9+/]{100,}={0,2}|\bbedrock-api-key-[A-Za-z0-9+/=_-]{20,}`, "absk", "bedrock-api-key-"),
	kind("AWS key", `(?i)aws_?(?:secret_?access_?key|session_?token)["']?\s*[:=]\s*["']?(?P<secret>[A-Za-z0-9/+=]{40,})`, "aws"),
	kind("Google key", `\bAIza[0-9A-Za-z_-]{35}|\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}`, "aiza", "ya29.", "gocspx-"),
	kind("Azure key", `(?i)(?:AccountKey|SharedAccessKey|SharedSecretKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})`, "accountkey=", "sharedaccesskey=", "sharedsecretkey="),
	kind("Azure key", `\b[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}`, "7q~", "8q~"),
	kind("NVIDIA key", `\bnvapi-[A-Za-z0-9_-]{20,}`, "nvapi-"),
	kind("OpenAI key", `\bsk-[A-Za-z0-9_-]{20,}`, "sk-").that(isMixed),
	kind("Groq key", `\bgsk_[A-Za-z0-9]{40,}`, "gsk_"),
	kind("Replicate token", `\br8_[A-Za-z0-9]{37}\b`, "r8_"),
	kind("xAI key", `\bxai-[A-Za-z0-9]{30,}`, "xai-").that(isMixed),
	kind("Perplexity key", `\bpplx-[A-Za-z0-9]{32,}`, "pplx-"),
	kind("Pinecone key", `\bpcsk_[A-Za-z0-9_]{30,}`, "pcsk_"),
	kind("LangSmith key", `\blsv2_(?:pt|sk)_[A-Za-z0-9_]{30,}`, "lsv2_"),
	kind("RunPod key", `\brpa_[A-Z0-9]{30,}[A-Za-z0-9]*`, "rpa_"),
	kind("Together key", `\btgp_v1_[A-Za-z0-9_-]{30,}`, "tgp_v1_"),
	kind("Cerebras key", `\bcsk-[a-z0-9]{40,}`, "csk-"),
	kind("Stripe key", `\b(?:[sr]k_(?:test|live|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{24,})`, "k_test_", "k_live_", "k_prod_", "whsec_"),
	kind("SendGrid key", `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, "sg."),
	kind("Atlassian token", `\b(?:AT(?:ATT|CTT|STT)3[A-Za-z0-9_-]{20,}=?[0-9A-F]*|ATBB[A-Za-z0-9]{24,})`, "att3", "ctt3", "stt3", "atbb").that(isMixed),
	kind("Linear key", `\blin_(?:api|oauth)_[A-Za-z0-9]{30,}`, "lin_api_", "lin_oauth_"),
	kind("OpenShift token", `\bsha256~[A-Za-z0-9_-]{40,}`, "sha256~"),
	kind("Vault token", `\bhv[sbr]\.[A-Za-z0-9_-]{20,}`, "hvs.", "hvb.", "hvr."),
	kind("Vault token", `\bs\.[A-Za-z0-9]{24}\b`, "s.").that(isBase64),
	kind("Terraform token", `\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}`, ".atlasv1."),
	kind("Grafana token", `\b(?:glc_[A-Za-z0-9+/]{32,}={0,2}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{40,}={0,2})`, "glc_", "glsa_", "eyjrijoi"),
	kind("Sentry token", `\bsntry[su]_[A-Za-z0-9+/=_]{40,}`, "sntrys_", "sntryu_"),
	kind("1Password token", `\bops_eyJ[A-Za-z0-9+/]{100,}={0,3}|\bA3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}\b`, "ops_eyj", "a3-"),
	kind("Artifactory key", `\b(?:AKCp[A-Za-z0-9]{50,}|cmVmd[A-Za-z0-9]{50,})`, "akcp", "cmvmd"),
	kind("Alibaba key", `\bLTAI[A-Za-z0-9]{16,26}\b`, "ltai").that(isMixed),
	kind("Prefect key", `\bpn[ub]_[A-Za-z0-9]{36}\b`, "pnu_", "pnb_"),
	kind("Pulumi token", `\bpul-[a-f0-9]{40}\b`, "pul-"),
	kind("Fly token", `\bfo1_[A-Za-z0-9_-]{43}|\bfm[12][ar]?_[A-Za-z0-9+/]{60,}={0,3}`, "fo1_", "fm1", "fm2_"),
	kind("Doppler token", `\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{40,}`, "dp."),
	kind("Dynatrace token", `\bdt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}`, "dt0"),
	kind("Notion token", `\bntn_\d{11}[A-Za-z0-9]{35}`, "ntn_"),
	kind("Airtable token", `\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b`, "pat"),
	kind("Harness token", `\b[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`, "pat.", "sat."),
	kind("PlanetScale token", `\bpscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,}`, "pscale_"),
	kind("Postman key", `\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}`, "pmak-"),
	kind("RubyGems key", `\brubygems_[a-f0-9]{48}`, "rubygems_"),
	kind("Tailscale key", `\btskey-[a-z]+-[A-Za-z0-9-]{16,}`, "tskey-"),
	kind("Heroku key", `\bHRKU-[A-Za-z0-9_-]{36,}`, "hrku-"),
	kind("Octopus key", `\bAPI-[A-Z0-9]{26,32}\b`, "api-").that(isMixed),
	kind("Cloudflare key", `\bv1\.0-[a-f0-9]{24}-[a-f0-9]{146}`, "v1.0-"),
	kind("Sourcegraph token", `\bsgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}`, "sgp_"),
	kind("Shopify token", `\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`, "shpat_", "shpca_", "shppa_", "shpss_"),
	kind("Square token", `\b(?:EAAA|sq0(?:atp|csp)-)[A-Za-z0-9_-]{22,}`, "eaaa", "sq0").that(isMixed),
	kind("mail service key", `\bxkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|\b[0-9a-f]{32}-us\d{1,2}\b|\bkey-[0-9a-f]{32}\b`, "xkeysib-", "-us", "key-"),
	kind("Twilio key", `\bSK[0-9a-f]{32}\b`, "sk").that(isMixed),
	kind("ClickHouse key", `\b4b1d[A-Za-z0-9]{38}\b`, "4b1d").that(isBase64),
	kind("Teams webhook", `webhook\.office\.com/webhookb2/(?P<secret>[A-Za-z0-9@/-]{40,})`, "webhook.office.com"),
	kind("Docker credentials", `["']_?auth["']\s*:\s*["'](?P<secret>[A-Za-z0-9+/]{6,}={0,2})["']`, "auth").that(isUserAndPassword),
	kind("npm credentials", `(?im)(?:^|[\s:"'])_auth(?:token)?\s*=\s*["']?(?P<secret>[A-Za-z0-9+/_=.-]{12,})`, "_auth"),
	kind("Databricks token", `\bdapi[0-9a-f]{32}(?:-\d)?\b`, "dapi"),
	kind("DigitalOcean token", `\bdo[opr]_v1_[0-9a-f]{64}\b`, "_v1_"),
	kind("Docker token", `\bdckr_[a-z]+_[A-Za-z0-9_-]{20,}`, "dckr_"),
	kind("npm token", `\bnpm_[A-Za-z0-9]{36}\b`, "npm_"),
	kind("PyPI token", `\bpypi-[A-Za-z0-9_-]{50,}`, "pypi-"),
	kind("JSON web token", `\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?|\bZXlK[A-Za-z0-9+/_-]{60,}={0,2}|\beyJhcGlfYWRkcmVzcyI6[A-Za-z0-9+/_-]{20,}={0,2}`, "eyj", "zxlk"),
	kind("Kaggle key", `(?i)kaggle[^\n]{0,120}?\bkey["']?\s*[:=]\s*["']?(?P<secret>[0-9a-f]{32})\b`, "kaggle"),
	kind("Kaggle key", `"username"\s*:\s*"[^"\n]*"\s*,\s*"key"\s*:\s*"(?P<secret>[0-9a-f]{32})"`, `"username"`),
	kind("signature", `(?i)[?&](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|sig|Key-Pair-Id|Policy)=(?P<secret>[A-Za-z0-9%+/=_~.-]{16,})`,
		"signature=", "credential=", "security-token=", "sig=", "key-pair-id=", "policy="),
	// A password in a link may hold an @ or a / of its own, so it ends at the last @ before the link does. http://localhost:4873/@scope
	// has a port there.
	kind("password", `[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>]*:(?P<secret>[^\s"'<>]+)@`, "://").that(isNoPort),
	kind("password", `(?i)\b(?:postgres|mysql|mariadb|mongodb|redis|amqp|mssql|oracle|clickhouse|snowflake|cockroach|ldap)[a-z0-9+]*://[^\s/:@"'<>]*:(?P<secret>[^\s"'<>]+)@`, "://"),
	kind("token", `[A-Za-z][A-Za-z0-9+.-]*://(?P<secret>[^\s/:@"'<>]{16,}):[^\s/@"'<>]*(?: [a-z]+\])?@`, "://").that(isMixed),
	kind("token", `[A-Za-z][A-Za-z0-9+.-]*://(?P<secret>[^\s/:@"'<>]{16,})@`, "://").that(isMixed),
	kind("credentials", `(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|negotiate)\s+)?(?P<secret>[^\s"',}]{6,})`, "authorization"),
	kind("credentials", `(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)`, "bearer").that(isMixed),
	kind("credentials", `(?i)\bx-(?:[a-z]+-)*(?:key|token|secret|password)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',}]{6,})`, "x-"),
	kind("cookie", `(?i)\b(?:set-)?cookie["']?:\s*["']?(?P<secret>[A-Za-z0-9_.-]+=[^\n"']+)`, "cookie"),
	kind("cookie", `(?i)\bcookies["']?\s*[=:]\s*\{(?P<secret>[^{}\n]+)\}`, "cookies"),
	kind("cookie", `<Cookie [^\s=]+=(?P<secret>\S+) for `, "<cookie"),
	kind("cookie", `\b_gitlab_session=(?P<secret>[0-9a-z]{32})`, "_gitlab_session"),
	kind("password", `\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?["']?[^\s:"']+:(?P<secret>[^\s"']+)`, "curl"),
	kind("password", `\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<secret>\S+)`, "machine"),
	kind("password", `\bsshpass\s+(?:-[^p\s]\S*\s+)*-p\s*["']?(?P<secret>[^\s"']+)`, "sshpass"),
	kind("password", `\b(?:mysql|mariadb|mongo)[a-z-]*\b[^\n]{0,200}?\s-p[ =]?["']?(?P<secret>[^\s"'-][^\s"']*)`, "mysql", "mariadb", "mongo"),
	kind("password", `\blogin\b[^\n]{0,200}?\s-p[ =]?["']?(?P<secret>[^\s"'-][^\s"']*)`, "login"),
	kind("password", `\bredis-cli\b[^\n]{0,200}?\s-a\s+["']?(?P<secret>[^\s"']+)`, "redis-cli"),
	kind("password", `\bpass:(?P<secret>[^\s"']{4,})`, "openssl"),
	kind("password", `(?i);\s*pwd\s*=\s*["']?(?P<secret>[^\s"';]{3,})`, "pwd"),
	kind("password", `(?i)(?:\b|_)pwd["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;}\])&]{3,})`, "pwd").that(isNoPath),
	// The name says it: FOO_TOKEN=..., 'api_key': '...', --password .... A name in lower case may be that of a token of text
	// (pad_token, eos_token), so there the value must look like a secret as well.
	kind("password", `(?i)(?:password|passwd|passphrase)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;}\])&]{3,})`, "passw", "passphrase"),
	kind("password", `(?i)--[a-z0-9_-]*(?:password|passwd|passphrase)\s+["']?(?P<secret>[^\s"'-][^\s"']{2,})`, "passw", "passphrase"),
	kind("secret", `\b(?:[A-Z0-9]+_)*(?:TOKEN|SECRET|API_?KEY|(?:SECRET|ACCESS|PRIVATE|PRIV|AUTH|ACCOUNT|STORAGE|SERVICE|CLIENT|DB|DATABASE|MASTER|SIGNING|ENCRYPTION|SESSION|SSH|OPENAI)_KEY|(?:[A-Z0-9]+_)PASS|CREDENTIALS?)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;}\])&]{6,})`,
		"token", "secret", "apikey", "_key", "_pass", "credential").that(isNoNumber),
	kind("secret", `(?i)\b(?:db|database|key|user|smtp|mail|redis|ftp|ldap|proxy)_?pass["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;}\])&]{3,})`, "pass").that(isNoNumber),
	kind("secret", `(?i)(?:token|secret|(?:api|access|secret|private|auth|account|service|signing|encryption|master)[_-]?key)["']?(?:\s*[:=]\s*|\s+is\s+)["']?(?P<secret>[A-Za-z0-9+][A-Za-z0-9+/._~=-]{15,})`,
		"token", "secret", "key").that(isMixed),
	kind("secret", `(?i)--[a-z0-9_-]*(?:token|secret|api[_-]?key|access[_-]?key)\s+["']?(?P<secret>[A-Za-z0-9+][A-Za-z0-9+/._~=-]{15,})`,
		"token", "secret", "key").that(isMixed),
	// A line out of the middle of a PEM block: nothing but base64, in both cases, of the width that PEM has.
	kind("private key", `(?m)^[ \t]*(?P<secret>[A-Za-z0-9+/]{64,76})[ \t]*$`, "").that(isBase64),
	// Its last line is shorter, and filled up.
	kind("private key", `(?m)^[ \t]*(?P<secret>[A-Za-z0-9+/]{20,74}={1,2})[ \t]*$`, "=").that(isBase64),
}
