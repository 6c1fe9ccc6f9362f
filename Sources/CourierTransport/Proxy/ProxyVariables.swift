/// Reads the proxy from environment variables, as curl does.
struct ProxyVariables {
    /// The kind of a connection. It selects the environment variables to read.
    enum Traffic: Sendable, CaseIterable {
        case plain, tls, webSocket, webSocketOverTLS

        /// The variables that may name the proxy. The first variable that is set is used.
        ///
        /// `HTTP_PROXY` is not read, because in a CGI script, a request can set it with the header “Proxy”
        /// (CVE-2016-5385).
        var names: [String] {
            switch self {
            case .plain: ["all_proxy", "ALL_PROXY"]
            case .webSocket: ["http_proxy", "all_proxy", "ALL_PROXY"]
            case .tls, .webSocketOverTLS: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
            }
        }
    }

    private let value: (String) -> String?

    /// Reads variables with `value`. An empty value counts as not set.
    init(_ value: @escaping (String) -> String?) {
        self.value = { name in value(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// Returns the proxy for `host` and `port`. Returns `nil` if no variable names a proxy, or if `no_proxy` contains
    /// the host.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the variable's value is not a valid proxy URL. The
    ///   error names the variable and never quotes the value.
    func proxy(toHost host: String, port: UInt16, _ traffic: Traffic) throws(TransportError) -> ProxyConfiguration? {
        guard let name = traffic.names.first(where: { value($0) != nil }), let url = value(name) else { return nil }
        if let list = value("no_proxy") ?? value("NO_PROXY"), NoProxyList(list).contains(host: host, port: port) {
            return nil
        }
        do throws(TransportError) {
            return try ProxyConfiguration(url: url.contains("://") ? url : "http://\(url)")
        } catch {
            throw TransportError(error.code, "the variable \(name): \(error.message)")
        }
    }
}
