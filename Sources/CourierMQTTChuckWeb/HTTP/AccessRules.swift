/// The rules for requests to the inspector's server. Every program and web page on this machine can reach the port. So
/// a request needs the token and a local host name, and must not come from a foreign origin.
struct AccessRules: Sendable {
    enum Refusal: Error {
        case foreignHost
        case foreignOrigin
        case noToken
        case badMethod
        case noProof
    }

    /// A header that proves that the page itself requests a change. A form or an image of another site cannot send this
    /// header. Browsers send a custom header to another site only with the permission of that site, and this server
    /// gives no permission.
    static let proof = (name: "x-courier-inspector", value: "yes")

    /// The pages that change something: they clear the logger, or retry or remove a parked message.
    private static let changes: Set<String> = ["/clear", "/parked/retry", "/parked/remove"]

    let token: String
    let port: UInt16

    /// Checks a request and returns the path that it requests.
    ///
    /// - Returns: The path after the token, without its leading slash; `nil` if nothing follows the token, not even a
    ///   slash.
    func destination(of request: HTTPRequest) throws(Refusal) -> String? {
        let names = ["127.0.0.1:\(port)", "localhost:\(port)"]
        // A foreign host name can resolve to this machine (DNS rebinding). A request with such a host name is refused,
        // because `names` does not contain the host name.
        let hosts = request.headers("host")
        guard hosts.count == 1, names.contains(hosts[0].lowercased()) else { throw .foreignHost }
        guard request.headers("origin").allSatisfy({ $0 == "http://\(hosts[0].lowercased())" }) else {
            throw .foreignOrigin
        }
        guard let path = request.path?.utf8, isToken(path.dropFirst().prefix { $0 != UInt8(ascii: "/") }),
            path.first == UInt8(ascii: "/")
        else { throw .noToken }
        let rest = path.dropFirst(1 + token.utf8.count)
        try checkSite(of: request)
        let changes = String(rest).map(Self.changes.contains) ?? false
        switch request.method {
        case "GET" where !changes: break
        case "POST" where changes:
            guard request.headers(Self.proof.name) == [Self.proof.value] else { throw .noProof }
        default: throw .badMethod
        }
        return rest.isEmpty ? nil : String(rest.dropFirst())
    }

    /// Checks the site that a browser reports as the source of a request. If the source is another site, only
    /// navigation to the page is allowed, such as by a link.
    private func checkSite(of request: HTTPRequest) throws(Refusal) {
        let sites = request.headers("sec-fetch-site")
        if sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) { return }
        guard request.headers("sec-fetch-mode") == ["navigate"], request.method == "GET" else {
            throw .foreignOrigin
        }
    }

    /// Returns whether a text is the token. The comparison always takes the same time. Its duration thus does not
    /// reveal how many characters are right.
    private func isToken(_ text: some Collection<UInt8>) -> Bool {
        guard text.count == token.utf8.count else { return false }
        return zip(text, token.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
