package bisect

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// git runs git in a folder with its arguments as they are, and returns what it prints.
func git(ctx context.Context, folder string, arguments ...string) (string, error) {
	// No hooks, no pager, no questions: what a repository or a user has set up must not act here.
	fixed := []string{"-C", folder, "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"}
	command := exec.CommandContext(ctx, "git", append(fixed, arguments...)...)
	command.Env = append(gitless(os.Environ()), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	var printed, complained bytes.Buffer
	command.Stdout, command.Stderr = &printed, &complained
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		line := firstLine(complained.String())
		if line == "" {
			line = err.Error()
		}
		return "", fmt.Errorf("git %s: %s", arguments[0], line)
	}
	return printed.String(), nil
}

// gitless leaves out what names another repository, as it does in the hooks of one.
func gitless(variables []string) []string {
	return slices.DeleteFunc(variables, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == "GIT_DIR" || name == "GIT_WORK_TREE" || name == "GIT_INDEX_FILE" || name == "GIT_OBJECT_DIRECTORY"
	})
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
}

// commits are candidates of a git repository.
type commits struct {
	options *Options
	top     string // of the user's repository, only read
	below   string // the folder in it in which the command runs
	room    string // folder of ours
}

// openCommits finds the repository.
func openCommits(ctx context.Context, options *Options) (*commits, error) {
	folder := options.Repo
	if folder == "" {
		folder = options.Folder
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--repo %s is not a folder", folder)
	}
	top, err := git(ctx, folder, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%s is in no git repository; give --repo DIR, or --package for versions: %w", folder, err)
	}
	below, err := git(ctx, folder, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	return &commits{options: options, top: strings.TrimSuffix(top, "\n"), below: strings.TrimSpace(below)}, nil
}

// resolve turns a revision into a commit's hash.
func (c *commits) resolve(ctx context.Context, flag, revision string) (string, error) {
	hash, err := git(ctx, c.top, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s %q is no commit of %s; `git log` and `git tag` list what there is", flag, revision, c.top)
	}
	return strings.TrimSpace(hash), nil
}

// list puts the commits between the ends in a line, the good end first.
func (c *commits) list(ctx context.Context) ([]Candidate, error) {
	good, err := c.resolve(ctx, "--good", c.options.Good)
	if err != nil {
		return nil, err
	}
	bad, err := c.resolve(ctx, "--bad", c.options.Bad)
	if err != nil {
		return nil, err
	}
	if good == bad {
		return nil, fmt.Errorf("--good %s and --bad %s are the same commit", c.options.Good, c.options.Bad)
	}
	if _, err := git(ctx, c.top, "merge-base", "--is-ancestor", good, bad); err != nil {
		if _, turned := git(ctx, c.top, "merge-base", "--is-ancestor", bad, good); turned == nil {
			return nil, fmt.Errorf("--bad %s is an ancestor of --good %s: exchange them", c.options.Bad, c.options.Good)
		}
		return nil, fmt.Errorf("--good %s is no ancestor of --bad %s: give their merge base as --good (git merge-base %s %s)",
			c.options.Good, c.options.Bad, good[:12], bad[:12])
	}
	return c.line(ctx, good, bad)
}

// line lists the commits in the order asked for; without one, along first parents where that leads
// to the good end.
func (c *commits) line(ctx context.Context, good, bad string) ([]Candidate, error) {
	first, err := c.log(ctx, "-1", good)
	if err != nil {
		return nil, err
	}
	if c.options.Order != Topological {
		rest, parents, err := c.logWithParents(ctx, "--first-parent", good+".."+bad)
		if err != nil {
			return nil, err
		}
		if len(rest) > 0 && len(parents[0]) > 0 && parents[0][0] == good {
			c.options.Linear = FirstParent
			return numbered(append(first, rest...)), nil
		}
		if c.options.Order == FirstParent {
			return nil, fmt.Errorf("--good %s is not on the first parents of --bad %s; give --order %s", c.options.Good,
				c.options.Bad, Topological)
		}
	}
	rest, err := c.log(ctx, "--topo-order", "--ancestry-path", good+".."+bad)
	if err != nil {
		return nil, err
	}
	c.options.Linear = Topological
	return numbered(append(first, rest...)), nil
}

func numbered(candidates []Candidate) []Candidate {
	for i := range candidates {
		candidates[i].Position = i
	}
	return candidates
}

func (c *commits) log(ctx context.Context, arguments ...string) ([]Candidate, error) {
	candidates, _, err := c.logWithParents(ctx, arguments...)
	return candidates, err
}

// logWithParents lists commits, the oldest first.
func (c *commits) logWithParents(ctx context.Context, arguments ...string) ([]Candidate, [][]string, error) {
	format := []string{"log", "-z", "--reverse", "--format=%H%x1f%P%x1f%an%x1f%cs%x1f%s"}
	text, err := git(ctx, c.top, append(append(format, arguments...), "--")...)
	if err != nil {
		return nil, nil, err
	}
	var candidates []Candidate
	var parents [][]string
	for _, record := range strings.Split(strings.TrimRight(text, "\x00\n"), "\x00") {
		fields := strings.SplitN(record, "\x1f", 5)
		if len(fields) != 5 {
			continue
		}
		of := strings.Fields(fields[1])
		parents = append(parents, of)
		candidates = append(candidates, Candidate{Name: fields[0], Author: fields[2], Date: fields[3], Title: fields[4],
			Merge: len(of) > 1})
	}
	return candidates, parents, nil
}

// identity tells caches of different searches apart.
func (c *commits) identity() string { return "git\x00" + c.top + "\x00" + c.options.Build }

// enter gives the source a folder of its own and makes a repository in it that borrows the user's
// objects: neither the user's working tree nor its list of worktrees is touched.
func (c *commits) enter(ctx context.Context, room string) error {
	c.room = room
	if _, err := os.Stat(filepath.Join(c.clone(), "HEAD")); err == nil {
		return nil
	}
	if err := os.RemoveAll(c.clone()); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	_, err := git(ctx, room, "clone", "--quiet", "--bare", "--shared", "--", c.top, c.clone())
	return err
}

func (c *commits) clone() string { return filepath.Join(c.room, "repository.git") }

// folder has the same length for each candidate: a program's speed can hang on the length of its
// path.
func (c *commits) folder(position int) string {
	return filepath.Join(c.room, c.options.Candidates[position].Name[:12])
}

// fetch checks a commit out into its folder.
func (c *commits) fetch(ctx context.Context, position int) error {
	folder := c.folder(position)
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("clear %s: %w", folder, err)
	}
	if _, err := git(ctx, c.clone(), "worktree", "prune"); err != nil {
		return err
	}
	_, err := git(ctx, c.clone(), "worktree", "add", "--quiet", "--detach", folder, c.options.Candidates[position].Name)
	return err
}

func (c *commits) build(int) string { return c.options.Build }

func (c *commits) workFolder(position int) string { return filepath.Join(c.folder(position), c.below) }

func (c *commits) buildFolder(position int) string { return c.workFolder(position) }

func (c *commits) environment(position int) []string {
	return []string{"CULPRIT_DIR=" + c.folder(position), "CULPRIT_VERSION=" + c.options.Candidates[position].Name}
}

func (c *commits) discard(ctx context.Context, position int) error {
	if err := os.RemoveAll(c.folder(position)); err != nil {
		return fmt.Errorf("remove %s: %w", c.folder(position), err)
	}
	_, err := git(ctx, c.clone(), "worktree", "prune")
	return err
}

func (c *commits) diff(ctx context.Context, before, after int) (string, error) {
	candidates := c.options.Candidates
	return git(ctx, c.clone(), "diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", candidates[before].Name,
		candidates[after].Name)
}

func (c *commits) read(ctx context.Context, position int, name string) (string, error) {
	return git(ctx, c.clone(), "show", "--end-of-options", c.options.Candidates[position].Name+":"+name)
}
