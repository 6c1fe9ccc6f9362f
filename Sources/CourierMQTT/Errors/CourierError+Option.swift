import CourierCore

extension CourierError {
    /// Makes the error of an option, with the rule that it breaks.
    ///
    /// - Parameters:
    ///   - name: The beginning of a sentence about the option.
    ///   - error: The broken rule.
    init(option name: String, _ error: any Error) {
        let problem = (error as? CourierError)?.message ?? "It is not legal."
        self.init(.invalidConfiguration, "\(name): \(problem)", cause: error)
    }
}
