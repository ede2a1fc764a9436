package report_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/report"
)

const (
	hexadecimal = "0123456789abcdef"
	upper32     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alphanum    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	base64      = alphanum + "+/"
)

// leaks are texts as logs hold them, with %s where the secret stands. The secrets are drawn, not written down, so that nobody's
// scanner takes this file for a leak.
var leaks = []struct {
	kind, prefix, alphabet string
	length                 int
	texts                  []string
}{
	{"hugging face", "hf_", alphanum, 34, []string{
		"OSError: 401 Client Error (token %s).", "export HF_TOKEN=%s", "Namespace(model='llama', hub_token='%s', seed=1)"}},
	{"wandb", "", hexadecimal, 40, []string{
		"$ wandb login %s", "WANDB_API_KEY=%s python train.py", "os.environ: {'WANDB_API_KEY': '%s', 'HOME': '/home/u'}"}},
	{"wandb in netrc and calls", "", hexadecimal, 40, []string{
		"machine api.wandb.ai login user password %s", "wandb.login(key=\"%s\")", "wandb: Paste an API key from your profile and hit enter: %s"}},
	{"github", "ghp_", alphanum, 36, []string{
		"fatal: could not read from https://%s@github.com/acme/train.git", "GITHUB_TOKEN=%s", "remote: token %s expired"}},
	{"github fine-grained", "github_pat_", alphanum, 82, []string{
		"git clone https://x-access-token:%s@github.com/acme/train", "env.GH_TOKEN: %s", "using %s"}},
	{"slack", "xoxb-", "0123456789abcdefABCDEF", 40, []string{
		"SLACK_BOT_TOKEN=%s", "slack_sdk.errors: invalid_auth for %s", "headers={'Authorization': 'Bearer %s'}"}},
	{"slack webhook", "", alphanum, 24, []string{
		"POST https://hooks.slack.com/services/T01234567/B01234567/%s", "url='https://hooks.slack.com/services/T0/B0/%s'", "https://hooks.slack.com/workflows/T0/A0/1/%s"}},
	{"aws id", "AKIA", upper32, 16, []string{
		"botocore: credential %s is invalid", "AWS_ACCESS_KEY_ID=%s", "{'aws_access_key_id': '%s'}"}},
	{"aws secret", "", base64, 40, []string{
		"AWS_SECRET_ACCESS_KEY=%s", "aws_secret_access_key = %s", "{\"AWS_SESSION_TOKEN\": \"%s\"}"}},
	{"google", "AIza", alphanum, 35, []string{
		"key=%s", "https://maps.googleapis.com/?key=%s&x=1", "GOOGLE_API_KEY: %s"}},
	{"azure", "", base64, 86, []string{
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%s==;EndpointSuffix=core.windows.net", "AZURE_STORAGE_KEY=%s", "Endpoint=sb://x/;SharedAccessKey=%s="}},
	{"openai", "sk-proj-", alphanum, 48, []string{
		"openai.AuthenticationError: Incorrect API key provided: %s.", "OPENAI_API_KEY='%s'", "client = OpenAI(api_key=\"%s\")"}},
	{"nvidia", "nvapi-", alphanum, 64, []string{
		"docker login nvcr.io -p %s", "NGC_API_KEY=%s", "Using %s"}},
	{"gitlab", "glpat-", alphanum, 20, []string{
		"git+https://oauth2:%s@gitlab.com/a/b", "CI_JOB_TOKEN=%s", "PRIVATE-TOKEN: %s"}},
	{"url password", "", alphanum, 12, []string{
		"HTTPS_PROXY=http://worker:%s@proxy.corp:3128", "redis.exceptions.ConnectionError: redis://:%s@10.0.0.7:6379/0", "postgresql://optuna:%s@db/studies"}},
	{"bearer", "", alphanum, 32, []string{
		"Authorization: Bearer %s", "{'authorization': 'Basic %s=='}", "curl -H 'x: 1' -H 'Authorization: token %s' https://a"}},
	{"json web token", "eyJhbGciOiJIUzI1NiJ9.", alphanum, 60, []string{
		"token=%s.sig", "mlflow: got %s.c2ln from server", "Cookie: session=%s.c2ln"}},
	{"password", "", alphanum, 10, []string{
		"MYSQL_PASSWORD=%s", "connect(user='a', password='%s')", "torchrun train.py --db-password %s --lr 1"}},
	{"signed link", "", hexadecimal, 64, []string{
		"https://b.s3.amazonaws.com/k?X-Amz-Expires=3600&X-Amz-Signature=%s", "https://storage.googleapis.com/b/k?X-Goog-Signature=%s&x=1", "https://a.blob.core.windows.net/c?sv=1&sig=%s"}},
	{"generic", "", alphanum, 24, []string{
		"COMET_API_KEY=%s", "NEPTUNE_API_TOKEN: \"%s\"", "client_secret='%s'"}},
	{"link with an @ or a slash in its password", "", alphanum, 12, []string{
		"sqlalchemy: postgresql+psycopg2://optuna:p@%s@db:5432/studies", "mysql://root:a/%s@10.0.0.7:3306/mlflow", "mongodb://u:1/%s@h1:27017,h2:27017/db"}},
	{"link with an @ or a slash at the end of its password", "", alphanum, 12, []string{
		"redis://:%s@@10.0.0.7:6379/0", "amqp://worker:%s/2@mq:5672/%%2f", "http_proxy=http://me:%s#/@proxy:3128"}},
	{"user of a link", "", hexadecimal, 40, []string{
		"git clone https://%s:x-oauth-basic@github.com/acme/train", "pip install git+https://%s:@github.com/a/b", "https://%s@o1.ingest.sentry.io/2"}},
	{"pwd", "", alphanum, 12, []string{
		"Driver={ODBC Driver 17};Server=db;Uid=sa;Pwd=%s;", "pyodbc.connect('DSN=x;UID=me;PWD=%s')", "db_pwd: '%s'"}},
	{"pass", "", alphanum, 12, []string{"REDIS_PASS=%s", "db_pass = \"%s\"", "SMTP_PASS: %s"}},
	{"options of commands", "", alphanum, 12, []string{
		"+ sshpass -p %s ssh node1", "mysql -u root -p%s mlflow", "docker login nvcr.io -u '$oauthtoken' -p %s"}},
	{"options of more commands", "", alphanum, 12, []string{
		"sshpass -v -p'%s' rsync a b", "mongosh --host db -u me -p %s", "redis-cli -h cache -a %s ping"}},
	{"slack client", "xoxc-", "0123456789abcdefABCDEF", 40, []string{"token %s", "xoxd %s", "curl -d t=%s"}},
	{"vault", "hvs.", alphanum, 90, []string{"got %s", "vault login %s", "X-Vault-Token: %s"}},
	{"vault of old", "s.", alphanum, 24, []string{"got %s", "vault login %s", "X-Vault-Token: %s"}},
	{"xai", "xai-", alphanum, 80, []string{"got %s", "key %s.", "('%s',)"}},
	{"perplexity", "pplx-", alphanum, 48, []string{"got %s", "key %s.", "('%s',)"}},
	{"stripe", "sk_live_", alphanum, 24, []string{"got %s", "key %s.", "('%s',)"}},
	{"sendgrid", "SG.", alphanum, 22, []string{"got %s.ABCDEFGHIJKLMNOPQRSTUV-xyz", "key %s.0123456789abcdefABCDEF_", "('%s.abcdefghijklmnopqrstuvw',)"}},
	{"atlassian", "ATATT3", alphanum, 180, []string{"got %s=AB12CD34", "key %s", "('%s',)"}},
	{"age", "AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58, []string{"got %s", "key %s.", "('%s',)"}},
	{"linear", "lin_api_", alphanum, 40, []string{"got %s", "key %s.", "('%s',)"}},
	{"openshift", "sha256~", alphanum, 43, []string{"oc login --token=%s", "key %s", "('%s',)"}},
	{"local wandb", "local-", hexadecimal, 40, []string{"got %s", "key %s.", "('%s',)"}},
	{"grafana", "glc_", alphanum, 60, []string{"got %s", "key %s.", "('%s',)"}},
	{"sentry", "sntryu_", hexadecimal, 64, []string{"got %s", "key %s.", "('%s',)"}},
	{"artifactory", "AKCp", alphanum, 69, []string{"got %s", "key %s.", "('%s',)"}},
	{"alibaba", "LTAI", alphanum, 20, []string{"got %s", "key %s.", "('%s',)"}},
	{"bedrock", "ABSK", base64, 120, []string{"got %s", "key %s.", "('%s',)"}},
	{"pinecone", "pcsk_", alphanum, 60, []string{"got %s", "key %s.", "('%s',)"}},
	{"tailscale", "tskey-auth-", alphanum, 30, []string{"got %s", "key %s.", "('%s',)"}},
	{"cookies", "", alphanum, 32, []string{
		"requests.get(url, cookies={'session': '%s', 'lang': 'en'})", "cookies: {\"sid\": \"%s\"}", "<RequestsCookieJar[<Cookie sid=%s for a.example/>]>"}},
	{"google key id", "", hexadecimal, 40, []string{"\"private_key_id\": \"%s\",", "{'private_key_id': '%s'}", "private_key_id=%s"}},
	{"end of a private key", "", base64, 30, []string{
		"%s==\n-----END RSA PRIVATE KEY-----", "%s=", "\n%s\n-----END OPENSSH PRIVATE KEY-----"}},
	{"private key", "", base64, 64, []string{
		"-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n-----END OPENSSH PRIVATE KEY-----", "  %s", "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n%s\\n-----END PRIVATE KEY-----\\n\""}},
}

func TestRedactHidesSecrets(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, leak := range leaks {
		for _, text := range leak.texts {
			secret := leak.prefix + draw(random, leak.alphabet, leak.length)
			before := fmt.Sprintf(text, secret)
			after := report.Redact(before)
			if strings.Contains(after, secret) || strings.Contains(after, secret[len(leak.prefix):]) {
				t.Errorf("%s: left in %q", leak.kind, after)
			}
			if !strings.Contains(after, "[redacted ") {
				t.Errorf("%s: no mark in %q", leak.kind, after)
			}
			if again := report.Redact(after); again != after {
				t.Errorf("%s: redacting again changes\n%q to\n%q", leak.kind, after, again)
			}
		}
	}
}

// draw returns a string of n letters with a digit and letters of both cases wherever the alphabet has them.
func draw(random *rand.Rand, alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[random.IntN(len(alphabet))]
	}
	for i, class := range []string{"7", "f", "E"} {
		if strings.Contains(alphabet, class) {
			out[1+i] = class[0]
		}
	}
	return string(out)
}

func TestRedactLeavesOrdinaryText(t *testing.T) {
	for _, text := range []string{
		"",
		"torch 2.11.0+cu130 git 70d99e998b4955e0049d13a98d77ae1b14db1f45",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"wandb: Syncing run glad-sun-12; git commit 70d99e998b4955e0049d13a98d77ae1b14db1f45",
		"wandb @ git+https://github.com/wandb/wandb@70d99e998b4955e0049d13a98d77ae1b14db1f45",
		"tokenizer.pad_token = <pad>, eos_token='</s>', pad_token_id=151643, bos_token: None",
		"Namespace(hf_token=None, use_auth_token=True, api_key='', wandb_api_key=None)",
		"HF_TOKEN=*** WANDB_API_KEY=$WANDB_API_KEY EOS_TOKEN=151643 HF_TOKEN=${HF_TOKEN}",
		"init_method=tcp://127.0.0.1:29500 rdzv_endpoint=node-1:29400",
		"https://github.com/NVIDIA/TransformerEngine/issues/1414#issuecomment-2567890123",
		"File \"/opt/conda/lib/python3.12/site-packages/transformers/tokenization_utils_base.py\", line 2096, in from_pretrained",
		"npm ERR! 404 http://localhost:4873/@scope/pack@1.2.3 - Not found",
		"docker pull registry:5000/team/image@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"etcd://a:2379,b:2379,c:2379 git@github.com:acme/train.git docker run -p 8080:80 -v a:b image",
		"PWD=/home/me/run OLDPWD=/home/me SLURM_SUBMIT_DIR=/home/me pwd: ~/x",
		"forward_pass: 12.7ms backward_pass=31.2ms cookies={} cookies=None first_pass=True",
		"pplx-7b-online sk-learn xai-org/grok-1 local-rank-0 SG.build hvs.py s.startswith(prefix) patch-14",
		"{'auth': 'kerberos', 'use_auth_token': True} CLIENT_AUTH = x509.ObjectIdentifier(\"1.3.6.1.5.5.7.3.2\")",
		"mysql server has gone away during login",
		"KeyError: 'model.layers.0.self_attn.q_proj.weight'",
		"RuntimeError: mat1 and mat2 shapes cannot be multiplied (4096x1024 and 4096x4096)",
		"task-specific-learning-rate-schedule-1 disk-usage-report-for-node-17-today",
		"Unable to find hf_transfer; hf_hub_download_from_remote_cache_dir2 was called",
		"tensor([[0.1234, 0.5678]], device='cuda:0', grad_fn=<AddmmBackward0>)",
		"password authentication failed for user \"optuna\"",
		"You are trying to access a gated repo. Access token is required: see https://huggingface.co/docs/hub/security-tokens",
	} {
		if got := report.Redact(text); got != text {
			t.Errorf("changed\n%q to\n%q", text, got)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, leak := range leaks {
		f.Add(fmt.Sprintf(leak.texts[0], leak.prefix+draw(rand.New(rand.NewPCG(1, 2)), leak.alphabet, leak.length)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := report.Redact(text)
		if twice := report.Redact(once); twice != once {
			t.Errorf("%q: redacted once\n%q, twice\n%q", text, once, twice)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	line := "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 3 has a total capacity of 139.80 GiB of which 12.06 GiB is free."
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		report.Redact(line)
	}
}

// Real logs hold no secrets, so nothing in them may change.
func TestRedactLeavesRealLogs(t *testing.T) {
	root := filepath.Join("..", "..", "testdata", "logs")
	read := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		log, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for n, line := range strings.Split(string(log), "\n") {
			if got := report.Redact(line); got != line {
				t.Errorf("%s:%d: changed\n%q to\n%q", path, n+1, line, got)
			}
		}
		return nil
	})
	if err != nil || read == 0 {
		t.Fatalf("read %d logs under %s: %v", read, root, err)
	}
}
