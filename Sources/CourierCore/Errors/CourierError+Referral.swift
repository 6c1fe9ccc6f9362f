extension CourierError {
    /// Creates the error for a connection service provider that returned no options for `server`. The broker redirected
    /// the client to that server.
    package init(noOptionsFor server: BrokerEndpoint) {
        self.init(
            .authenticationFailed,
            "The broker refers the client to \(server), but the auth provider has no options for that server. "
                + "Implement the provider's method connectOptions(for:), "
                + "or allow the present credentials for that server (MQTTClientConfig.endpoints.redirects).")
    }
}
