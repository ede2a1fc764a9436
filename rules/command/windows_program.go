package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// program is a call of a program, of which the words are no longer quoted.
func (w WindowsShell) program(words []string) (string, error) {
	name, args := words[0], words[1:]
	switch name {
	case "ls":
		return w.list(args)
	case "cat":
		return ofFiles("type", args), nil
	case "which":
		return ofFiles("where.exe", args), nil
	case "cp":
		return w.copy(args), nil
	case "mv":
		return ofFiles("move", args), nil
	case "cd", "mkdir":
		return ofFiles(name, args), nil
	case "rm":
		return w.remove(args)
	case "unset":
		return w.unset(args), nil
	case "grep":
		return w.search(args)
	case "python3", "pip3":
		name = strings.TrimSuffix(name, "3")
	}
	if slices.Contains(ofUnix, path.Base(name)) || strings.HasSuffix(name, ".sh") {
		return "", errUnsaid
	}
	all := []string{windowsPath(name)}
	for _, arg := range args {
		all = append(all, quoted(arg))
	}
	return strings.Join(all, " "), nil
}

// ofUnix are programs for which Windows has nothing; those for which it has stand in program.
var ofUnix = []string{
	"[", ".", "apt", "apt-get", "awk", "bash", "brew", "chmod", "chown", "df", "dmesg", "dnf", "du", "env", "file", "find", "free",
	"head", "journalctl", "kill", "ldconfig", "ldd", "ln", "lsof", "lspci", "make", "md5sum", "nohup", "nproc", "pgrep", "pkill",
	"ps", "scancel", "sed", "sh", "sha256sum", "sort", "source", "strings", "sudo", "sysctl", "systemctl", "tail", "tee", "test",
	"timeout", "touch", "tr", "ulimit", "uname", "uniq", "unzip", "wc", "wget", "xargs", "yum",
}

// windowsPath is a path with the sign that parts folders there.
func windowsPath(name string) string { return strings.ReplaceAll(name, "/", `\`) }

// ofFiles is a call of a program of Windows with the files or folders that it is about, without options.
func ofFiles(name string, args []string) string {
	return strings.Join(append([]string{name}, namesIn(args)...), " ")
}

// namesIn are the files and folders among arguments, as Windows writes them.
func namesIn(args []string) (names []string) {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			names = append(names, quoted(windowsPath(arg)))
		}
	}
	return names
}

// copy is cp. cmd copies folders with xcopy alone: /e takes the empty ones too, and /i says that what is not there is a folder.
func (w WindowsShell) copy(args []string) string {
	folders := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, "raR") })
	said := ofFiles("copy", args)
	switch {
	case !folders:
		return said
	case w == PowerShell:
		return said + " -Recurse"
	}
	return ofFiles("xcopy /e /i", args)
}

// list is ls without its options: dir tells sizes and days by itself.
func (w WindowsShell) list(args []string) (string, error) {
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.Contains(arg, "R") }) {
		return "", errUnsaid
	}
	if w == PowerShell {
		return strings.TrimRight("dir "+strings.Join(namesIn(args), ", "), " "), nil
	}
	return ofFiles("dir", args), nil
}

// remove is rm for files, and for folders with -r.
func (w WindowsShell) remove(args []string) (string, error) {
	names := namesIn(args)
	folders := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, "rR") })
	switch {
	case len(names) == 0:
		return "", errUnsaid
	case w == PowerShell && folders:
		return "rm -Recurse -Force " + strings.Join(names, ", "), nil
	case w == PowerShell:
		return "rm " + strings.Join(names, ", "), nil
	case folders:
		return "rmdir /s /q " + strings.Join(names, " "), nil
	}
	return "del " + strings.Join(names, " "), nil
}

func (w WindowsShell) unset(names []string) string {
	var all []string
	for _, name := range names {
		if w == PowerShell {
			all = append(all, "$env:"+name+"=$null")
		} else {
			all = append(all, "set "+name+"=")
		}
	}
	return strings.Join(all, w.then())
}

// search is grep through a folder or files, which PowerShell's own patterns read nearly as grep's extended ones do.
func (w WindowsShell) search(args []string) (string, error) {
	pattern, places, kinds, extended, folders := "", []string(nil), []string(nil), false, false
	for _, arg := range args {
		kind, isInclude := strings.CutPrefix(arg, "--include=")
		switch {
		case isInclude:
			kinds = append(kinds, kind)
		case strings.HasPrefix(arg, "--"), strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, "ABCfo"): // lines around it, a list of patterns
			return "", errUnsaid
		case strings.HasPrefix(arg, "-"):
			extended, folders = extended || strings.Contains(arg, "E"), folders || strings.ContainsAny(arg, "rR")
		case pattern == "":
			pattern = arg
		default:
			places = append(places, windowsPath(arg))
		}
	}
	if pattern == "" || strings.ContainsAny(pattern, "'\"") || !extended && strings.ContainsAny(pattern, "+?|(){}") || len(places) == 0 && !folders {
		return "", errUnsaid
	}
	if len(places) == 0 {
		places = []string{"."}
	}
	said := "sls -Pattern '" + pattern + "' -Path '" + strings.Join(places, "','") + "'"
	if folders {
		of := ""
		if len(kinds) > 0 {
			of = " -Include " + strings.Join(kinds, ",")
		}
		said = "ls '" + strings.Join(places, "','") + "' -Recurse" + of + " | sls '" + pattern + "'"
	}
	if w == Cmd {
		return `powershell -c "` + said + `"`, nil
	}
	return said, nil
}

// piped is what a program prints, filtered. Windows shows all of it, where a POSIX shell would show its beginning or end alone.
func (w WindowsShell) piped(left string, stmt *syntax.Stmt) (string, error) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || len(stmt.Redirs) > 0 {
		return "", errUnsaid
	}
	words, err := literals(call.Args)
	if err != nil {
		return "", err
	}
	switch words[0] {
	case "head", "tail", "less", "more":
		return left, nil
	case "grep":
		return w.filtered(left, words[1:])
	}
	return "", errUnsaid
}

// filtered is what a program prints of some words.
func (w WindowsShell) filtered(left string, args []string) (string, error) {
	options, words := "", []string(nil)
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			options += arg
			continue
		}
		words = append(words, arg)
	}
	if len(words) != 1 || strings.Trim(options, "-iEnw") != "" || strings.ContainsAny(words[0], ` "'\.*+?()[]{}^$`) {
		return "", errUnsaid
	}
	said := left + " | findstr "
	if strings.Contains(options, "i") {
		said += "/i "
	}
	return said + quotedAlways(strings.ReplaceAll(words[0], "|", " ")), nil // findstr parts its words by blanks
}
