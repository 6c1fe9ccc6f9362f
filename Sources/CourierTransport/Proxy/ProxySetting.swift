/// Whether connections go through a proxy, and through which.
///
/// Only TCP connections do; Unix sockets, descriptors and streams of the app's own never go through one.
public enum ProxySetting: Hashable, Sendable {
    /// Through none.
    case direct

    /// Through this one, whatever the environment says.
    case proxy(ProxyConfiguration)

    /// Through the one that the variables of the process name, read for each connection anew.
    ///
    /// They are read as curl reads them, lower case first: `https_proxy` for TLS, `http_proxy` for WebSocket without
    /// TLS, in lower case only, and `all_proxy` for these and everything else. `no_proxy` lists the hosts to reach
    /// without a proxy. A variable that is empty counts as one that is not there.
    case environment

    /// Like ``environment``, with these variables in the place of those of the process.
    case variables([String: String])
}

extension ProxySetting: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The setting, a proxy by its URL without credentials, and of variables only that they are given.
    public var description: String {
        switch self {
        case .direct: "direct"
        case .proxy(let proxy): "proxy \(proxy)"
        case .environment: "environment"
        case .variables: "variables"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the same as ``description``: a variable may hold a password.
    public var customMirror: Mirror { Mirror(self, children: ["setting": description], displayStyle: .struct) }
}

extension ProxySetting {
    /// The proxy to `host` and `port`, `nil` for none; `variable` reads a variable of the process.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` that names the variable which cannot be read as a URL.
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
