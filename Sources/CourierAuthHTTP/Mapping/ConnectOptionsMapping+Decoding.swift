import CourierCore
import Foundation

extension ConnectOptionsMapping {
    /// The error for a response that cannot be used. Its message never contains a value of the response.
    struct Failure: Error, Equatable {
        let message: String
    }

    /// The maximum number of seconds from the request to the expiry. A larger number is replaced by this maximum,
    /// because `Date` stores times up to this maximum precisely (year 33658).
    private static let farthest = 1e12

    /// Decodes the response to a request that was sent at `requestedAt`.
    func grant(from body: Data, clientID: String, requestedAt: Date) throws(Failure) -> ConnectGrant {
        let document: JSONValue
        do { document = try JSONDecoder().decode(JSONValue.self, from: body) } catch {
            throw Failure(message: "is not JSON")
        }
        let options = ConnectOptions(
            host: try JSONReading.text.value(of: host, in: document),
            port: try JSONReading.smallNumber.value(of: port, in: document),
            keepAlive: try JSONReading.smallNumber.value(of: keepAlive, in: document),
            clientId: try JSONReading.text.value(of: clientId ?? .fixed(clientID), in: document),
            username: try JSONReading.text.value(of: username, in: document),
            password: try JSONReading.text.value(of: password, in: document),
            isCleanSession: try JSONReading.boolean.value(of: isCleanSession, in: document),
            userProperties: try JSONReading.texts.value(ofOptional: userProperties, in: document),
            alpn: try JSONReading.list.value(ofOptional: alpn, in: document),
            scheme: try JSONReading.text.value(ofOptional: scheme, in: document),
            webSocket: webSocket,
            extendedAuthentication: try extendedAuthentication(in: document),
            alternatives: try JSONReading.endpoints.value(ofOptional: alternatives, in: document) ?? [])
        return ConnectGrant(options, expiresAt: try expiryDate(in: document, requestedAt))
    }

    private func extendedAuthentication(in document: JSONValue) throws(Failure) -> ExtendedAuthentication? {
        guard let method = try JSONReading.text.value(ofOptional: authenticationMethod, in: document) else {
            return nil
        }
        let data = try JSONReading.text.value(ofOptional: authenticationData, in: document)
        return ExtendedAuthentication(method: method, data: data.map { Data($0.utf8) })
    }

    private func expiryDate(in document: JSONValue, _ requestedAt: Date) throws(Failure) -> Date? {
        switch expiry {
        case .unknown: return nil
        case .after(let field):
            let seconds = try JSONReading.number.value(of: field, in: document)
            return requestedAt.addingTimeInterval(min(max(seconds, -Self.farthest), Self.farthest))
        case .at(let field): return try JSONReading.date.value(of: field, in: document)
        }
    }
}
