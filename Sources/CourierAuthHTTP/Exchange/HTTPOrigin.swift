import CourierCore
import Foundation

/// Who answers a URL: scheme, host and port. What is meant for one origin is sent to no other.
struct HTTPOrigin: Hashable, Sendable {
    let isSecure: Bool
    let host: String
    let port: Int

    /// `nil` for a URL that is not one of HTTP, or has no host.
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

    /// The URL of which nothing is left out.
    var url: URL? { URL(string: description) }

    /// Whether it is on this machine by its very name: `localhost`, an address of 127.0.0.0/8, or `::1`.
    var isLoopback: Bool { host.isLoopbackHost }
}

extension HTTPOrigin: CustomStringConvertible {
    var description: String {
        "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
