/// Who may ask the page's server for what. Any program and any web page on this machine can reach the port, so nothing
/// is answered without the token, nothing under a foreign name, and nothing to another origin.
struct AccessRules: Sendable {
    enum Refusal: Error {
        case foreignHost
        case foreignOrigin
        case noToken
        case badMethod
        case noProof
    }

    /// What a form or an image of another site cannot send, because a header of one's own needs the permission of
    /// this server, which it does not give.
    static let proof = (name: "x-courier-inspector", value: "yes")

    let token: String
    let port: UInt16

    /// Where a request goes.
    ///
    /// - Returns: The path behind the token, without a slash before it; `nil` for the token alone without one.
    func destination(of request: HTTPRequest) throws(Refusal) -> String? {
        let names = ["127.0.0.1:\(port)", "localhost:\(port)"]
        // A name that somebody else made point here (DNS rebinding) is not one of these.
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
        switch (request.method, String(rest)) {
        case ("GET", "/clear"): throw .badMethod
        case ("GET", _): break
        case ("POST", "/clear"):
            guard request.headers(Self.proof.name) == [Self.proof.value] else { throw .noProof }
        default: throw .badMethod
        }
        return rest.isEmpty ? nil : String(rest.dropFirst())
    }

    /// Browsers say where a request comes from. A link to the page is welcome; anything else from elsewhere is not.
    private func checkSite(of request: HTTPRequest) throws(Refusal) {
        let sites = request.headers("sec-fetch-site")
        if sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) { return }
        guard request.headers("sec-fetch-mode") == ["navigate"], request.method == "GET" else {
            throw .foreignOrigin
        }
    }

    /// Compares in a time that does not tell how much is right.
    private func isToken(_ text: some Collection<UInt8>) -> Bool {
        guard text.count == token.utf8.count else { return false }
        return zip(text, token.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
