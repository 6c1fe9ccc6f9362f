public import Foundation

/// What an adaptive keep-alive has found out about networks, for the next connection and the next start of the app.
///
/// It is a value: store it as it is encoded, and hand it to ``AdaptiveKeepAlive/memory``. What was changed outside, or
/// belongs to other bounds, does no harm: the client keeps within the bounds that it is given.
public struct KeepAliveMemory: Hashable, Sendable {
    /// What is known of one network.
    public struct Finding: Codable, Hashable, Sendable {
        /// The network's name, as ``AdaptiveKeepAlive/network`` gives it.
        public let network: String
        /// The longest silence that a connection has survived there, or the shortest that is allowed.
        public let interval: Duration
        /// The shortest silence that none has survived; `nil` while none is known.
        public let failedInterval: Duration?
        /// When that was found out.
        public let date: Date
    }

    /// How many networks are remembered, 64; one more takes the place of the one that was not used for the longest time.
    public static let limit = 64

    /// What is known, the network that was used last at the end.
    public private(set) var findings: [Finding]

    /// Remembers nothing.
    public init() { findings = [] }

    /// What is known of `network`, if anything is.
    ///
    /// - Parameter network: The network's name.
    public subscript(network: String) -> Finding? { findings.first { $0.network == network } }

    /// Puts `finding` in the place of what was known of its network, and in the last place.
    mutating func keep(_ finding: Finding) {
        findings.removeAll { $0.network == finding.network }
        findings.append(finding)
        findings.removeFirst(max(findings.count - Self.limit, 0))
    }
}

extension KeepAliveMemory: Codable {
    private enum CodingKeys: CodingKey { case findings }

    /// Decodes a memory, of which no more than ``limit`` networks are kept.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: What the decoder throws.
    public init(from decoder: any Decoder) throws {
        self.init()
        for finding in try decoder.container(keyedBy: CodingKeys.self).decode([Finding].self, forKey: .findings) {
            keep(finding)
        }
    }
}
