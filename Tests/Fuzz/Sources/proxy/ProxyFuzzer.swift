import FuzzSupport

@testable import CourierTransport

/// Feeds one input to the exchange with a SOCKS5 proxy, to the parser of proxy URLs, or to the list of `no_proxy`.
///
/// The sizes of the reads must not matter, and no byte of the target may be read. A proxy's description must be parsed
/// as the same proxy. A list of hosts must contain the same hosts as its parts. No error may contain a password.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    switch choice % 4 {
    case 0, 1: checkSOCKS(Array(input.rest), hasCredentials: choice & 4 != 0, hasName: choice & 8 != 0)
    case 2: checkURL(input.text())
    default: checkList(host: input.line(), input.line(), input.line())
    }
}

// MARK: SOCKS5

private struct Outcome: Equatable {
    var taken = 0
    var sent: [[UInt8]] = []
    var isDone = false
    var error: TransportError?
}

private func checkSOCKS(_ bytes: [UInt8], hasCredentials: Bool, hasName: Bool) {
    let large = outcome(bytes, hasCredentials, hasName, step: .max)
    let small = outcome(bytes, hasCredentials, hasName, step: 1)
    demand(large == small, "the sizes of the reads do not matter: \(large) \(small)")
    let expected = acceptedCount(bytes[...], hasCredentials)
    demand(large.isDone == (expected != nil), "the result is that of the reference: \(large)")
    if let expected { demand(large.taken == expected + (Plant.isPlanted ? 1 : 0), "no byte of the target is read") }
}

/// Returns the number of bytes of an accepting conversation (RFC 1928, RFC 1929), or `nil` for any other bytes.
private func acceptedCount(_ bytes: ArraySlice<UInt8>, _ hasCredentials: Bool) -> Int? {
    let method = Array(bytes.prefix(2))
    var rest = bytes.dropFirst(2)
    if method == [5, 2], hasCredentials {
        guard rest.prefix(2) == [1, 0] else { return nil }
        rest = rest.dropFirst(2)
    } else if method != [5, 0] {
        return nil
    }
    let reply = Array(rest.prefix(5))
    guard reply.count == 5, reply[0] == 5, reply[1] == 0 else { return nil }
    let sizes: [UInt8: Int] = [1: 4, 3: Int(reply[4]) + 1, 4: 16]
    guard let size = sizes[reply[3]], rest.count >= 4 + size + 2 else { return nil }
    return bytes.count - rest.count + 4 + size + 2
}

private func outcome(_ bytes: [UInt8], _ hasCredentials: Bool, _ hasName: Bool, step: Int) -> Outcome {
    let credentials = hasCredentials ? ProxyCredentials(user: "ada", password: Secret.text) : nil
    guard let proxy = try? ProxyConfiguration(.socks5h, host: "proxy", port: 1_080, credentials: credentials),
        let target = try? ProxyTarget(host: hasName ? "broker.example" : "192.0.2.7", port: 1_883)
    else { fatalError("the configuration is right") }
    var handshake = SOCKS5Handshake(ProxyRoute(proxy, target), credentials: credentials)
    var outcome = Outcome()
    outcome.sent.append(handshake.begin())
    while outcome.taken < bytes.count {
        demand((1...258).contains(handshake.wantedCount), "a running handshake reads a limited number of bytes")
        let piece = Array(bytes[outcome.taken...].prefix(min(step, handshake.wantedCount)))
        do {
            let action = try handshake.received(piece.span)
            outcome.taken += piece.count
            switch action {
            case .none: break
            case .send(let bytes): outcome.sent.append(bytes)
            case .done:
                demand(handshake.wantedCount == 0, "a complete handshake reads no more bytes")
                outcome.isDone = true
                return outcome
            }
        } catch {
            outcome.error = error
            outcome.taken = 0
            demand(error.message.hasPrefix("the proxy socks5h://proxy:1080 "), "an error names the proxy: \(error)")
            Secret.demandAbsent(in: error.message)
            return outcome
        }
    }
    Secret.demandAbsent(in: handshake.closedError.message + handshake.progress)
    return outcome
}

// MARK: URLs and lists

private func checkURL(_ url: String) {
    do {
        let proxy = try ProxyConfiguration(url: url)
        if proxy.credentials != nil, !proxy.host.contains(Secret.text) { Secret.demandAbsent(in: "\(proxy)") }
        let again = try? ProxyConfiguration(url: proxy.description)
        demand(again?.kind == proxy.kind && again?.host == proxy.host && again?.port == proxy.port, "\(proxy) is a URL")
    } catch {
        demand(error.code == .invalidConfiguration && !error.message.isEmpty, "an error has a sentence: \(error)")
        Secret.demandAbsent(in: error.message)
    }
}

private func checkList(host: String, _ first: String, _ second: String) {
    func contains(_ list: String) -> Bool { NoProxyList(list).contains(host: host, port: 1_883) }
    demand(contains("\(first),\(second)") == (contains(first) || contains(second)), "a list has the hosts of its parts")
    demand(contains("\(first) *"), "an asterisk contains every host")
    guard case .name(let name)? = (try? ProxyTarget(host: host, port: 1_883))?.host else { return }
    if name.contains(where: { $0 != "." }) { demand(contains(name), "a list contains its own host: \(name)") }
}
