import CourierCore
import Foundation

/// The origin of a URL: scheme, host and port. Data that is meant for one origin is never sent to another origin.
struct HTTPOrigin: Hashable, Sendable {
    let isSecure: Bool
    let host: String
    let port: Int

    /// Returns `nil` if the URL has no `http` or `https` scheme, or no host.
    init?(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        guard let host = url.host?.lowercased(), !host.isEmpty else { return nil }
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? (isSecure ? 443 : 80)
    }

    /// The origin as a URL with scheme, host and port.
    var url: URL? { URL(string: description) }

    /// True if the host name itself means this machine: `localhost`, an address of 127.0.0.0/8, or `::1`.
    var isLoopback: Bool { host.isLoopbackHost }
}

extension HTTPOrigin: CustomStringConvertible {
    var description: String {
        "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
