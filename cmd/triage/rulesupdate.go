package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/rules/bundle"
	"github.com/gpu-triage/triage/rules/release"
)

// released is where the newest knowledge is.
const released = "https://github.com/gpu-triage/triage/releases/latest/download/knowledge.zip"

// updateOptions are what one call of `triage rules update` asks for.
type updateOptions struct {
	key      string
	rollBack bool
}

func newRulesUpdate(std streams) *cobra.Command {
	o := &updateOptions{}
	cmd := &cobra.Command{
		Use:   "update [URL|FILE]",
		Short: "Use newer knowledge than this program came with",
		Long: `Fetches a bundle of knowledge and its signature, whose name ends in .minisig, looks whether it was signed with the key of the
released knowledge (or that of --key) and whether this program understands it, and uses it from then on. Without an argument it
is the bundle of the newest release. Nothing is fetched without this command.

The bundle is kept in the user's data folder. --roll-back removes it and goes back to the one before it, or to the knowledge that
came with the program. Every other command takes --no-update, which leaves bundles out for once.`,
		Example: `  triage rules update
  triage rules update ./knowledge.zip
  triage rules update https://rules.example.org/knowledge.zip --key team.pub
  triage rules update --roll-back`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := bundleFolder()
			if err != nil {
				return err
			}
			store := bundle.Store{Dir: folder}
			if o.rollBack {
				return rollBack(std, store, o, args)
			}
			return updateRules(cmd.Context(), std, store, o, append(args, released)[0])
		},
	}
	cmd.Flags().StringVar(&o.key, "key", "", "`FILE` with the public minisign key of a bundle that your team signs")
	cmd.Flags().BoolVar(&o.rollBack, "roll-back", false, "go back to the knowledge before the last update")
	_ = cmd.MarkFlagFilename("key", "pub")
	return cmd
}

// maxKey bounds files of keys and signatures, in bytes.
const maxKey = 16 << 10

func updateRules(ctx context.Context, std streams, store bundle.Store, o *updateOptions, source string) error {
	var text []byte
	if o.key != "" {
		var err error
		if text, err = readAtMost(o.key, maxKey); err != nil {
			return fmt.Errorf("--key: %w", err)
		}
	}
	key, err := bundle.Key(string(text))
	if err != nil {
		return fmt.Errorf("--key %s: %w", o.key, err)
	}
	content, err := get(ctx, source, bundle.MaxSize)
	if err != nil {
		return err
	}
	signature, err := get(ctx, withSuffix(source, bundle.SignatureSuffix), maxKey)
	if err != nil {
		return fmt.Errorf("the bundle's signature: %w", err)
	}
	b, err := bundle.Verified(content, signature, key)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	before, err := store.Install(b)
	if errors.Is(err, bundle.ErrNotNewer) {
		_, err := fmt.Fprintf(std.out, "Nothing is changed: %v.\n", err)
		return err
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "The knowledge of %s is in use; before, it was that of %s.\ntriage rules update --roll-back goes back.\n", b.Version, before)
	return err
}

func rollBack(std streams, store bundle.Store, o *updateOptions, args []string) error {
	if len(args) > 0 || o.key != "" {
		return errors.New("--roll-back takes nothing else")
	}
	removed, now, err := store.RollBack()
	if err != nil {
		return err
	}
	if removed == "" {
		_, err = fmt.Fprintf(std.out, "There is no update to go back from; the knowledge of %s is in use.\n", now)
		return err
	}
	_, err = fmt.Fprintf(std.out, "The knowledge of %s is removed, and that of %s is in use.\n", removed, now)
	return err
}

// withSuffix is the name of the file beside another one; of an address, it is the path that gets the suffix.
func withSuffix(source, suffix string) string {
	if u := address(source); u != nil {
		u.Path += suffix
		return u.String()
	}
	return source + suffix
}

// address is what a source names on the network, or nil when it is a file.
func address(source string) *url.URL {
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	return u
}

// fetchTime is how long a bundle may take.
const fetchTime = 2 * time.Minute

// get reads a file, or what is at an address, of at most so many bytes.
func get(ctx context.Context, source string, limit int64) ([]byte, error) {
	if address(source) == nil {
		return readAtMost(source, limit)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "triage/"+release.Program())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server says %s", source, response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = errors.New("too large for what it should hold")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return content, nil
}

func newRulesPack(std streams) *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "pack DIR BUNDLE.zip",
		Short: "Make a signed bundle of a whole knowledge base, for rules update",
		Long: `Packs the knowledge base in DIR, which has knowledge.yaml, facts.yaml and the other files of the folder rules of the repository, and
signs it with a private key of minisign, without a password or with that in MINISIGN_PASSWORD. To add a few signatures of your own, no
bundle is needed: TRIAGE_RULES names their folder.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			content, err := bundle.Pack(os.DirFS(args[0]))
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			secret, err := readAtMost(key, maxKey)
			if err != nil {
				return fmt.Errorf("--key: %w", err)
			}
			signature, err := bundle.Sign(content, secret, std.env("MINISIGN_PASSWORD"))
			if err != nil {
				return fmt.Errorf("--key %s: %w", key, err)
			}
			if err := os.WriteFile(args[1], content, 0o644); err != nil {
				return err
			}
			return os.WriteFile(args[1]+bundle.SignatureSuffix, signature, 0o644)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "`FILE` with the private minisign key")
	_ = cmd.MarkFlagRequired("key")
	return cmd
}
