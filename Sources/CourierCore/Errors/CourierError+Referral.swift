extension CourierError {
    /// The error of a provider that was asked for the options of a referred server, and has none.
    package init(noOptionsFor server: BrokerEndpoint) {
        self.init(
            .authenticationFailed,
            "The connection service provider has no options for \(server), to which the broker refers the client. Implement "
                + "its form with a server, or let the client use the present credentials there "
                + "(MQTTClientConfig.endpoints.redirects).")
    }
}
