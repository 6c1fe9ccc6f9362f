extension String {
    /// The same text with a full stop at its end, for a message that another sentence follows.
    var asSentence: String { hasSuffix(".") ? self : self + "." }
}
