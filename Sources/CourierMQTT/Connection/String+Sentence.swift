extension String {
    /// This text with a period at its end, so that another sentence can follow.
    var asSentence: String { hasSuffix(".") ? self : self + "." }
}
