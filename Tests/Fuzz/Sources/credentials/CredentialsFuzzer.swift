import CourierCore
import Foundation
import FuzzSupport

@testable import CourierAuthHTTP

/// Feeds one input to the parsers of a token endpoint's reply: its JSON body, `Retry-After`, and `Location`.
///
/// No error may contain a value of the reply. A pause must be within its limits. A redirect must stay at its origin.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    switch choice % 4 {
    case 0, 1: checkBody(Data(input.rest))
    case 2: checkPause(input.text())
    default: checkRedirect(input.text(), status: 300 + Int(choice >> 2) % 12)
    }
}

private let mapping = ConnectOptionsMapping(
    host: "broker.host", port: "broker.port", keepAlive: .at("keep_alive", default: 60),
    clientId: .at("client_id", default: "phone"), username: .at("user", default: "ada"), password: "token",
    isCleanSession: .at("clean", default: false), userProperties: .at("properties", default: [:]),
    alpn: .at("alpn", default: []), scheme: .at("scheme", default: "mqtts"),
    alternatives: .at("alternatives", default: []), authenticationMethod: .at("method", default: "none"),
    authenticationData: .at("data", default: ""),
    expiry: .at(.at("expires_at", default: Date(timeIntervalSince1970: 0))))

private func checkBody(_ body: Data) {
    do {
        let grant = try mapping.grant(from: body, clientID: "phone", requestedAt: Date(timeIntervalSince1970: 0))
        demand(
            abs(grant.expiresAt?.timeIntervalSince1970 ?? 0) <= (Plant.isPlanted ? -1 : 1e12), "an expiry is limited")
        let again = try? mapping.grant(from: body, clientID: "phone", requestedAt: Date(timeIntervalSince1970: 0))
        demand(again == grant, "the same reply gives the same options")
    } catch {
        demand(!error.message.isEmpty, "an error has a sentence")
        Secret.demandAbsent(in: error.message)
    }
}

private func checkPause(_ text: String) {
    let maximum = Duration.seconds(300)
    let pause = RetryAfter.pause(text, now: Date(timeIntervalSince1970: 1_700_000_000), maximum: maximum)
    demand(pause.map { (.zero...maximum).contains($0) } ?? true, "a pause is within its limits: \(pause ?? .zero)")
}

private func checkRedirect(_ location: String, status: Int) {
    guard let url = URL(string: "https://tokens.example:8443/a/b?c=d") else { fatalError("the URL is right") }
    let reply = HTTPReply(status: status, location: location, retryAfter: nil, body: Data())
    do {
        guard let step = try RedirectRules(maximumCount: 3).step(after: reply, from: url, method: "POST", count: 0)
        else {
            demand(![301, 302, 303, 307, 308].contains(status), "a redirect is followed or refused")
            return
        }
        demand(HTTPOrigin(step.url) == HTTPOrigin(url), "a redirect stays at its origin: \(step.url)")
        demand(step.url.scheme?.lowercased() == "https", "a redirect keeps TLS: \(step.url)")
    } catch {
        demand(!error.message.isEmpty, "an error has a sentence")
        Secret.demandAbsent(in: error.message)
    }
}
