extension String {
    /// Foreign text that stays on its line and cannot play with the terminal.
    var onOneLine: String {
        var text = ""
        for scalar in unicodeScalars { text += scalar.terminalEscape ?? String(scalar) }
        return text
    }
}
