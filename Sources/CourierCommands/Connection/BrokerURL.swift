import CommandArguments

/// The argument of `-L`: `scheme://[user[:password]@]host[:port]/topic`.
///
/// The URL is parsed in the same way as by the mosquitto clients. Percent escapes are not decoded. The topic starts
/// after the first slash. The default ports for `ws` and `wss` are the MQTT ports 1883 and 8883.
struct BrokerURL: Hashable {
    private static let schemes: KeyValuePairs<String, (port: Int, isSecure: Bool, isWebSocket: Bool)> = [
        "mqtt://": (1_883, false, false), "mqtts://": (8_883, true, false), "ws://": (1_883, false, true),
        "wss://": (8_883, true, true),
    ]

    let host: String
    let port: Int
    let isSecure: Bool
    let isWebSocket: Bool
    let username: String?
    let password: String?
    let topic: String

    init(_ text: String) throws(ArgumentError) {
        guard let (prefix, scheme) = Self.schemes.first(where: { text.lowercased().hasPrefix($0.key) }) else {
            throw ArgumentError("unsupported URL scheme.", blankLines: 2)
        }
        let rest = text.dropFirst(prefix.count)
        guard let slash = rest.firstIndex(of: "/") else {
            throw ArgumentError("Invalid URL for -L argument specified - topic missing.")
        }
        topic = String(rest[rest.index(after: slash)...])
        var place = rest[..<slash]
        if let at = place.firstIndex(of: "@") {
            let who = place[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            username = who.first.map(String.init)
            password = who.count > 1 ? String(who[1]) : nil
            place = place[place.index(after: at)...]
        } else {
            username = nil
            password = nil
        }
        // The port is searched after the brackets of an IPv6 address, because colons inside the brackets do not start a
        // port number.
        let end = place.hasPrefix("[") ? place.firstIndex(of: "]") ?? place.startIndex : place.startIndex
        if let colon = place[end...].firstIndex(of: ":") {
            host = String(place[..<colon])
            port = NumberText.whole(String(place[place.index(after: colon)...]))
        } else {
            host = String(place)
            port = scheme.port
        }
        isSecure = scheme.isSecure
        isWebSocket = scheme.isWebSocket
    }
}
