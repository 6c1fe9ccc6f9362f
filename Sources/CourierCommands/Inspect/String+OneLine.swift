extension String {
    /// The text with escapes for newlines and for characters that control the terminal. It makes untrusted text safe to
    /// print.
    var onOneLine: String {
        var text = ""
        for scalar in unicodeScalars { text += scalar.terminalEscape ?? String(scalar) }
        return text
    }
}
