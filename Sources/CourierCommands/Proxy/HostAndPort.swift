package import CommandArguments
import CourierCore

/// A host and a port of the command line, such as `broker.example:1883` or `[::1]:1883`.
package struct HostAndPort: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`, or only `PORT` if there is a default host.
    ///
    /// - Parameters:
    ///   - text: The text of the command line.
    ///   - option: The option that error messages name.
    ///   - defaultHost: The host if the text is only a port; `nil` if the host is required.
    /// - Throws: An error that names the option, the mistake and the remedy.
    package init(_ text: String, of option: String, defaultHost: String? = nil) throws(ArgumentError) {
        let form = defaultHost == nil ? "HOST:PORT" : "[HOST:]PORT"
        func refusal(_ problem: String, _ hint: String) -> ArgumentError {
            ArgumentError("\(option): \(problem).", hint: hint)
        }
        if text.contains("@") {
            throw refusal(
                "there is a user name before the @", "Write only \(form); the clients send user name and password.")
        }
        if text.contains("/") {
            throw refusal(
                "\(text.quoted()) is a URL or a path",
                "Write only \(form); TLS, WebSocket and Unix sockets are not supported.")
        }
        var host = defaultHost ?? ""
        var port = text
        if let colon = text.lastIndex(of: ":") {
            host = String(text[..<colon])
            port = String(text[text.index(after: colon)...])
        } else if defaultHost == nil {
            throw refusal("the port is missing in \(text.quoted())", "Write HOST:PORT, such as 127.0.0.1:1883.")
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw refusal(
                "the IPv6 address \(host.quoted()) has no brackets", "Write the address in brackets, as in [::1]:1883.")
        }
        if host.isEmpty {
            throw refusal("the host is missing in \(text.quoted())", "Write \(form), such as 127.0.0.1:1883.")
        }
        guard host.allSatisfy({ $0.isLetter || $0.isNumber || "-._:%".contains($0) }) else {
            throw refusal("\(host.quoted()) is no host name or address", "Write \(form), such as 127.0.0.1:1883.")
        }
        guard port.allSatisfy({ $0.isASCII && $0.isNumber }), let number = UInt16(port) else {
            throw refusal("\(port.quoted()) is not a port", "Write \(form) with a port from 0 to 65535.")
        }
        self.init(host: host.lowercased() == "localhost" ? "127.0.0.1" : host, port: number)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
