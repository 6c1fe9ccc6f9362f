extension CourierError {
    /// Creates the error for a connection service provider that returned no options for `server`. The broker redirected
    /// the client to that server.
    package init(noOptionsFor server: BrokerEndpoint) {
        self.init(
            .authenticationFailed,
            "The connection service provider has no options for \(server), to which the broker refers the client. Implement "
                + "its form with a server, or let the client use the present credentials there "
                + "(MQTTClientConfig.endpoints.redirects).")
    }
}
