/// Selects the proxy that connections use, or none.
///
/// Only TCP connections use a proxy. Unix sockets, descriptors and the app's own streams never use a proxy.
public enum ProxySetting: Hashable, Sendable {
    /// Connects directly, without a proxy.
    case direct

    /// Uses this proxy and ignores the environment variables.
    case proxy(ProxyConfiguration)

    /// Uses the proxy that the environment variables of the process name. They are read again for each connection.
    ///
    /// The rules are those of curl. A lower-case name is tried before its upper-case form. `https_proxy` is for TLS.
    /// `http_proxy` is for WebSocket without TLS, and only its lower-case form is read. `all_proxy` applies if the more
    /// specific variable is not set. `no_proxy` lists the hosts to connect to without a proxy. An empty variable counts
    /// as not set. If the value of a variable is not a valid URL, the error names the variable and never contains the
    /// value.
    case environment

    /// Like ``environment``, but reads these variables instead of the variables of the process.
    case variables([String: String])
}

extension ProxySetting: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the setting. A proxy is shown as a URL without credentials. The names and values of variables are
    /// not shown.
    public var description: String {
        switch self {
        case .direct: "direct"
        case .proxy(let proxy): "proxy \(proxy)"
        case .environment: "environment"
        case .variables: "variables"
        }
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows only ``description``, so that `dump` does not print variables. A variable may contain a password.
    public var customMirror: Mirror { Mirror(self, children: ["setting": description], displayStyle: .struct) }
}

extension ProxySetting {
    /// Returns the proxy for a connection to `host` and `port`, or `nil` for a direct connection. `variable` reads an
    /// environment variable of the process.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the value of a variable is not a valid proxy URL. The
    ///   error names the variable.
    func proxy(
        toHost host: String, port: UInt16, traffic: ProxyVariables.Traffic, variable: @escaping (String) -> String?
    ) throws(TransportError) -> ProxyConfiguration? {
        switch self {
        case .direct: return nil
        case .proxy(let proxy): return proxy
        case .environment: return try ProxyVariables(variable).proxy(toHost: host, port: port, traffic)
        case .variables(let given):
            return try ProxyVariables { given[$0] }.proxy(toHost: host, port: port, traffic)
        }
    }
}
