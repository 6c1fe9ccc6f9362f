import Foundation

/// The variables that name a proxy, as curl reads them, by which `URLSession` makes its requests on Linux.
///
/// What some versions of curl do not know, such as `127.0.0.0/8` in `no_proxy`, counts as if it were not there.
struct ProxyEnvironment: Sendable {
    /// The variables of this process, read when they are needed.
    static let process = ProxyEnvironment { ProcessInfo.processInfo.environment[$0] }

    private let value: @Sendable (String) -> String?

    /// Reads by `value`; an empty one counts as none.
    init(_ value: @escaping @Sendable (String) -> String?) {
        self.value = { name in value(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// The variable by which plain HTTP to `host` goes through a proxy; `nil` when none does. Curl makes no exception for
    /// this machine, and does not read `HTTP_PROXY`.
    func variable(forPlainHTTPTo host: String) -> String? {
        guard let name = ["http_proxy", "all_proxy", "ALL_PROXY"].first(where: { value($0) != nil }) else { return nil }
        guard let list = value("no_proxy") ?? value("NO_PROXY") else { return name }
        return Self.contains(list, host.lowercased()) ? nil : name
    }

    /// Whether `list` is a star, or has `host` or a domain that it is in.
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
