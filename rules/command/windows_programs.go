package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// program is a call of a program, of which the words are no longer quoted.
func (w Windows) program(words []string) (string, error) {
	name, args := words[0], words[1:]
	switch name {
	case "ls":
		return w.list(args)
	case "cat":
		return withArguments("type", args)
	case "which":
		return withArguments("where.exe", args)
	case "cd":
		return withArguments("cd", args)
	case "mkdir", "cp", "mv":
		return withArguments(map[string]string{"mkdir": "mkdir", "cp": "copy", "mv": "move"}[name], args)
	case "rm":
		return w.remove(args)
	case "unset":
		return w.unset(args)
	case "grep":
		return w.search(args)
	case "python3", "pip3":
		name = strings.TrimSuffix(name, "3")
	}
	if isOfUnix(name) || strings.HasSuffix(name, ".sh") {
		return "", errUnsaid
	}
	if strings.Contains(name, "/") {
		name = strings.ReplaceAll(name, "/", `\`)
	}
	return withArguments(name, args)
}

// withArguments is a call of a program whose options are the same everywhere, or which has none here.
func withArguments(name string, args []string) (string, error) {
	all := []string{name}
	for _, arg := range args {
		all = append(all, quoted(arg))
	}
	if slices.Contains([]string{"type", "where.exe", "copy", "move", "mkdir", "cd"}, name) {
		all = slices.DeleteFunc(all, func(arg string) bool { return strings.HasPrefix(arg, "-") })
		for i := range all[1:] {
			all[i+1] = strings.ReplaceAll(all[i+1], "/", `\`)
		}
	}
	return strings.Join(all, " "), nil
}

// list is ls without its options: dir tells sizes and days by itself.
func (w Windows) list(args []string) (string, error) {
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.Contains(arg, "R") }) {
		return "", errUnsaid
	}
	all := []string{"dir"}
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			all = append(all, quoted(strings.ReplaceAll(arg, "/", `\`)))
		}
	}
	if w == PowerShell && len(all) > 2 {
		return "dir " + strings.Join(all[1:], ", "), nil
	}
	return strings.Join(all, " "), nil
}

// remove is rm for files, and for folders with -r.
func (w Windows) remove(args []string) (string, error) {
	var names []string
	folders := false
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			folders = folders || strings.ContainsAny(arg, "rR")
			continue
		}
		names = append(names, quoted(strings.ReplaceAll(arg, "/", `\`)))
	}
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

func (w Windows) unset(names []string) (string, error) {
	all := make([]string, len(names))
	for i, name := range names {
		if all[i] = "set " + name + "="; w == PowerShell {
			all[i] = "$env:" + name + "=$null"
		}
	}
	return strings.Join(all, w.then()), nil
}

// search is grep through a folder or files, which PowerShell's own patterns read nearly as grep's extended ones do.
func (w Windows) search(args []string) (string, error) {
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
			places = append(places, strings.ReplaceAll(arg, "/", `\`))
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
func (w Windows) piped(left string, stmt *syntax.Stmt) (string, error) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || len(stmt.Redirs) > 0 {
		return "", errUnsaid
	}
	words := make([]string, len(call.Args))
	for i, arg := range call.Args {
		word, err := literal(arg)
		if err != nil {
			return "", err
		}
		words[i] = word
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
func (w Windows) filtered(left string, args []string) (string, error) {
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
