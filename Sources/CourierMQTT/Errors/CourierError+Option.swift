import CourierCore

extension CourierError {
    /// Creates the error for an option that breaks a rule.
    ///
    /// - Parameters:
    ///   - name: The name of the option, as the beginning of the error text.
    ///   - error: The error that describes the broken rule.
    init(option name: String, _ error: any Error) {
        let problem = (error as? CourierError)?.message ?? "The value is not allowed."
        self.init(.invalidConfiguration, "\(name): \(problem)", cause: error)
    }
}
