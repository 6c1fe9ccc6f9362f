/// A shell for which a completion script can be generated.
package enum Shell: String, Hashable, Sendable, CaseIterable {
    case bash, zsh, fish
}

/// A completion script, with which a shell completes the words of a command line.
package struct Completions: Hashable, Sendable {
    /// The script, in the language of the shell.
    package let string: String

    /// Generates the completion script of a program.
    ///
    /// - Parameters:
    ///   - program: The description of the program.
    ///   - shell: The shell that reads the script.
    package init(_ program: ProgramSummary, _ shell: Shell) {
        switch shell {
        case .bash: string = Self.bash(program)
        case .zsh: string = Self.zsh(program)
        case .fish: string = Self.fish(program)
        }
    }

    /// The words of the program itself that may follow its name, in addition to the names of its commands.
    private static let own = ["--help", "--version", "--generate-man", "completions", "help"]

    /// Returns the options of a command that the shell suggests: only the supported options.
    private static func options(_ command: CommandSummary) -> [OptionSummary] {
        command.options.filter { $0.refusal == nil }
    }

    // MARK: bash

    private static func bash(_ program: ProgramSummary) -> String {
        let function = "_\(identifier(program.name))"
        var lines = [
            "# Completions of \(program.name) for bash. Source this file, or save it as the following file:",
            "# ~/.local/share/bash-completion/completions/\(program.name).", "\(function)() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}", "    COMPREPLY=()",
            "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
            "        COMPREPLY=($(compgen -W '\((program.commands.map(\.name) + own).joined(separator: " "))' -- \"$word\"))",
            "        return", "    fi", "    case ${COMP_WORDS[1]} in",
            "    completions)",
            "        COMPREPLY=($(compgen -W '\(Shell.allCases.map(\.rawValue).joined(separator: " "))' -- \"$word\")) ;;",
            "    help)",
            "        COMPREPLY=($(compgen -W '\(program.commands.map(\.name).joined(separator: " "))' -- \"$word\")) ;;",
        ]
        for command in program.commands {
            lines += ["    \(command.name))", "        case $before in"]
            for option in options(command) where !option.valueNames.isEmpty {
                let reply =
                    switch option.completion {
                    case .anything: "return"
                    case .files: "COMPREPLY=($(compgen -f -- \"$word\")); return"
                    case .folders: "COMPREPLY=($(compgen -d -- \"$word\")); return"
                    case .words(let words):
                        "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\")); return"
                    }
                lines.append("        \(option.names.all.joined(separator: "|"))) \(reply) ;;")
            }
            let names = options(command).flatMap(\.names.all).joined(separator: " ")
            lines += ["        esac", "        COMPREPLY=($(compgen -W '\(names)' -- \"$word\")) ;;"]
        }
        lines += ["    esac", "}", "complete -F \(function) \(program.name)"]
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: zsh

    private static func zsh(_ program: ProgramSummary) -> String {
        let function = "_\(identifier(program.name))"
        var lines = [
            "#compdef \(program.name)",
            "# Completions of \(program.name) for zsh. Save this file as _\(program.name) in a folder of $fpath.",
            "\(function)() {", "    local -a commands", "    commands=(",
        ]
        for command in program.commands {
            lines.append("        \(quoted("\(command.name):\(command.abstract)"))")
        }
        lines += [
            "        'completions:print completions for bash, zsh or fish'",
            "        'help:print the help of a command'",
            "    )", "    if (( CURRENT == 2 )); then", "        _describe command commands", "        return",
            "    fi", "    local name=$words[2]", "    shift words", "    (( CURRENT-- ))", "    case $name in",
            "    completions) _arguments '1:shell:(\(Shell.allCases.map(\.rawValue).joined(separator: " ")))' ;;",
            "    help) _describe command commands ;;",
        ]
        for command in program.commands {
            lines.append("    \(command.name)) _arguments -s \\")
            for option in options(command) {
                let all = option.names.all
                let help = option.help.replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: "\\:")
                let values = option.valueNames.enumerated().map { index, name in
                    ":\(name):\(index == 0 ? zshAction(option.completion) : "")"
                }.joined()
                for name in all {
                    // The description of an option does not say whether the option may be repeated. So every option
                    // gets a `*`, which allows zsh to suggest the option repeatedly.
                    lines.append("        \(quoted("*\(name)[\(help)]\(values)")) \\")
                }
            }
            lines.append("        && return ;;")
        }
        lines += ["    esac", "}", "\(function) \"$@\""]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func zshAction(_ completion: OptionValues.Completion) -> String {
        switch completion {
        case .anything: ""
        case .files: "_files"
        case .folders: "_files -/"
        case .words(let words): "(\(words.joined(separator: " ")))"
        }
    }

    // MARK: fish

    private static func fish(_ program: ProgramSummary) -> String {
        let name = program.name
        var lines = [
            "# Completions of \(name) for fish. Save this file as ~/.config/fish/completions/\(name).fish.",
            "complete -c \(name) -f",
        ]
        for command in program.commands {
            lines.append(
                "complete -c \(name) -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.abstract))")
        }
        lines += [
            "complete -c \(name) -n __fish_use_subcommand -a completions -d 'print completions'",
            "complete -c \(name) -n __fish_use_subcommand -a help -d 'print the help of a command'",
            "complete -c \(name) -n '__fish_seen_subcommand_from completions' -a "
                + "'\(Shell.allCases.map(\.rawValue).joined(separator: " "))'",
        ]
        for command in program.commands {
            for option in options(command) {
                var parts = ["complete -c \(name) -n '__fish_seen_subcommand_from \(command.name)'"]
                if let letter = option.names.letter { parts.append("-s \(letter)") }
                parts += option.names.words.map { "-l \($0)" }
                if !option.valueNames.isEmpty {
                    switch option.completion {
                    case .anything: parts.append("-x")
                    case .files: parts.append("-r -F")
                    case .folders: parts.append("-x -a '(__fish_complete_directories)'")
                    case .words(let words): parts.append("-x -a '\(words.joined(separator: " "))'")
                    }
                }
                parts.append("-d \(quoted(option.help))")
                lines.append(parts.joined(separator: " "))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Text helpers

    private static func identifier(_ name: String) -> String { name.replacing("-", with: "_") }

    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
