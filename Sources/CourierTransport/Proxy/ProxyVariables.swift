/// Reads the proxy from environment variables, as curl does.
struct ProxyVariables {
    /// What is to go through the proxy, since variables name a scheme.
    enum Traffic: Sendable, CaseIterable {
        case plain, tls, webSocket, webSocketOverTLS

        /// The variables that may name its proxy, the first that is there counts.
        ///
        /// `HTTP_PROXY` is missing: in a CGI script a request sets it, by its header “Proxy” (CVE-2016-5385).
        var names: [String] {
            switch self {
            case .plain: ["all_proxy", "ALL_PROXY"]
            case .webSocket: ["http_proxy", "all_proxy", "ALL_PROXY"]
            case .tls, .webSocketOverTLS: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
            }
        }
    }

    private let value: (String) -> String?

    /// Reads by `value`; an empty one counts as none.
    init(_ value: @escaping (String) -> String?) {
        self.value = { name in value(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// The proxy to `host` and `port`; `nil` where no variable names one, or the host is to be reached without.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` that names the variable, and nothing of its value.
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
