import CourierCore

extension CourierError {
    /// What is wrong with an option, in the words of the rule that it breaks.
    ///
    /// - Parameters:
    ///   - name: How a sentence about the option begins.
    ///   - error: Which rule it breaks.
    init(option name: String, _ error: any Error) {
        let problem = (error as? CourierError)?.message ?? "It is not legal."
        self.init(.invalidConfiguration, "\(name): \(problem)", cause: error)
    }
}
