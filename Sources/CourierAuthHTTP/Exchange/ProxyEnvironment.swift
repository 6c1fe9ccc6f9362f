import Foundation

/// Reads the environment variables that name a proxy, as curl does. `URLSession` uses curl on Linux.
///
/// Entries of `no_proxy` that some versions of curl do not support, such as `127.0.0.0/8`, are ignored.
struct ProxyEnvironment: Sendable {
    /// The variables of this process, read at each use.
    static let process = ProxyEnvironment { ProcessInfo.processInfo.environment[$0] }

    private let value: @Sendable (String) -> String?

    /// Creates an environment that reads variables with `value`. An empty variable counts as missing.
    init(_ value: @escaping @Sendable (String) -> String?) {
        self.value = { name in value(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// Returns the name of the variable that sends plain HTTP to `host` through a proxy; `nil` if no variable does so.
    /// As in curl, a proxy is also used for this machine, and `HTTP_PROXY` is not read.
    func variable(forPlainHTTPTo host: String) -> String? {
        guard let name = ["http_proxy", "all_proxy", "ALL_PROXY"].first(where: { value($0) != nil }) else { return nil }
        guard let list = value("no_proxy") ?? value("NO_PROXY") else { return name }
        return Self.contains(list, host.lowercased()) ? nil : name
    }

    /// True if `list` is a star, or contains `host` or a parent domain of `host`.
    private static func contains(_ list: String, _ host: String) -> Bool {
        if list == "*" { return true }
        let isAddress = host.contains(":") || host.last?.isNumber == true
        return list.lowercased().split { $0 == "," || $0 == " " }.contains { entry in
            if isAddress { return entry == host }
            let domain = entry.hasPrefix(".") ? entry.dropFirst() : entry
            return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
        }
    }
}
